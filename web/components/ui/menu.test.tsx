import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { IconButton } from "./button";
import { Dialog } from "./dialog";
import { Menu, MenuItem } from "./menu";

const person = userEvent.setup();
afterEach(cleanup);

function Example({ onArchive = () => undefined, isOff = false }: { onArchive?: () => void; isOff?: boolean }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Menu trigger={<IconButton label="Actions for a.pdf" icon="more" tooltip={false} />}>
        <MenuItem onSelect={() => setAsking(true)}>Rename…</MenuItem>
        <MenuItem onSelect={onArchive} isOff={isOff} describedBy="why">
          Archive
        </MenuItem>
      </Menu>
      {isAsking && (
        <Dialog isOpen onClose={() => setAsking(false)} title="Rename 'a.pdf'?">
          <input aria-label="Name" />
        </Dialog>
      )}
      <button type="button">Elsewhere</button>
    </>
  );
}

const button = () => screen.getByRole("button", { name: "Actions for a.pdf" });

describe("a menu", () => {
  it("is a button that says whether it is open, and is called like it", async () => {
    render(<Example />);
    expect(button().getAttribute("aria-haspopup")).toBe("menu");
    expect(button().getAttribute("aria-expanded")).toBe("false");
    await person.click(button());
    expect(button().getAttribute("aria-expanded")).toBe("true");
    expect(screen.getByRole("menu", { name: "Actions for a.pdf" })).toBeTruthy();
    await person.click(button());
    expect(screen.queryByRole("menu")).toBeNull();
  });

  it.each(["{Enter}", " ", "{ArrowDown}"])("opens by %s on its first line, and Esc leads back to the button", async (key) => {
    render(<Example />);
    button().focus();
    await person.keyboard(key);
    await waitFor(() => expect(document.activeElement?.textContent).toBe("Rename…"));
    await person.keyboard("{Escape}");
    expect(screen.queryByRole("menu")).toBeNull();
    expect(document.activeElement).toBe(button());
  });

  it("does what was chosen, once", async () => {
    const archive = vi.fn();
    render(<Example onArchive={archive} />);
    await person.click(button());
    await person.click(screen.getByRole("menuitem", { name: "Archive" }));
    expect(archive).toHaveBeenCalledOnce();
    expect(screen.queryByRole("menu")).toBeNull();
  });

  it("keeps what is off in its place, to be focused and not done", async () => {
    const archive = vi.fn();
    render(<Example onArchive={archive} isOff />);
    button().focus();
    await person.keyboard("{Enter}");
    await waitFor(() => expect(document.activeElement?.textContent).toBe("Rename…"));
    await person.keyboard("{ArrowDown}");
    const off = screen.getByRole("menuitem", { name: "Archive" });
    expect(document.activeElement).toBe(off);
    expect([off.getAttribute("aria-disabled"), off.getAttribute("aria-describedby")]).toEqual(["true", "why"]);
    await person.keyboard("{Enter}");
    expect(archive).not.toHaveBeenCalled();
    expect(screen.queryByRole("menu")).not.toBeNull();
  });

  it("gives the focus to the dialog it opens, and gets it back on its button", async () => {
    render(<Example />);
    await person.click(button());
    await person.click(screen.getByRole("menuitem", { name: "Rename…" }));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Name")));
    await person.keyboard("{Escape}");
    await waitFor(() => expect(document.activeElement).toBe(button()));
  });
});
