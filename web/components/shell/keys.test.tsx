import { cleanup, render } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { allKeys, handleKey, useKeys, type KeyBinding } from "./keys";

function Bound({ bindings }: { bindings: readonly KeyBinding[] }) {
  useKeys(bindings);
  return null;
}

const person = userEvent.setup();

beforeEach(() => document.addEventListener("keydown", handleKey));
afterEach(() => {
  document.removeEventListener("keydown", handleKey);
  localStorage.clear();
  cleanup();
});

describe("keys", () => {
  it("do what they are bound to, one or two in a row", async () => {
    const upload = vi.fn();
    const archive = vi.fn();
    render(
      <Bound
        bindings={[
          { keys: "u", run: upload },
          { keys: "g a", run: archive },
        ]}
      />,
    );
    await person.keyboard("u");
    await person.keyboard("ga");
    await person.keyboard("a");
    expect([upload.mock.calls.length, archive.mock.calls.length]).toEqual([1, 1]);
  });

  it("tell letters from their large ones, and Shift with an arrow", async () => {
    const [next, previous, extend] = [vi.fn(), vi.fn(), vi.fn()];
    render(
      <Bound
        bindings={[
          { keys: "n", run: next },
          { keys: "Shift+n", run: previous },
          { keys: "Shift+ArrowDown", run: extend },
        ]}
      />,
    );
    await person.keyboard("{Shift>}N{/Shift}{Shift>}{ArrowDown}{/Shift}n");
    expect([next, previous, extend].map((run) => run.mock.calls.length)).toEqual([1, 1, 1]);
  });

  it("leave fields alone, but for Ctrl-K and what says so", async () => {
    const [upload, palette, close] = [vi.fn(), vi.fn(), vi.fn()];
    const bindings = [
      { keys: "u", run: upload },
      { keys: "Mod+k", run: palette },
      { keys: "Escape", run: close, inFields: true },
    ];
    const screen = render(
      <>
        <Bound bindings={bindings} />
        <input aria-label="name" />
      </>,
    );
    const field = screen.getByLabelText("name");
    await person.type(field, "uu{Control>}k{/Control}{Escape}");
    expect(field).toHaveProperty("value", "uu");
    expect([upload, palette, close].map((run) => run.mock.calls.length)).toEqual([0, 1, 1]);
  });

  it.each(["dialog", "menu"])("leave a %s alone: the page beneath hears nothing", async (role) => {
    const [upload, next, close] = [vi.fn(), vi.fn(), vi.fn()];
    const screen = render(
      <>
        <Bound
          bindings={[
            { keys: "u", run: upload },
            { keys: "ArrowDown", run: next },
            { keys: "Escape", run: close, inFields: true },
          ]}
        />
        <div role={role}>
          <button type="button">here</button>
        </div>
      </>,
    );
    screen.getByText("here").focus();
    await person.keyboard("u{ArrowDown}{Escape}");
    expect([upload, next, close].map((run) => run.mock.calls.length)).toEqual([0, 0, 1]);
  });

  it("count in a checkbox, which is no place to write", async () => {
    const open = vi.fn();
    const screen = render(
      <>
        <Bound bindings={[{ keys: "x", run: open }]} />
        <input type="checkbox" aria-label="row" />
      </>,
    );
    screen.getByLabelText("row").focus();
    await person.keyboard("x");
    expect(open).toHaveBeenCalledOnce();
  });

  it("can be switched off, and Ctrl-K stays", async () => {
    localStorage.setItem("muniment.keys", "off");
    const [upload, palette] = [vi.fn(), vi.fn()];
    render(
      <Bound
        bindings={[
          { keys: "u", run: upload },
          { keys: "Mod+k", run: palette },
        ]}
      />,
    );
    await person.keyboard("u{Control>}k{/Control}");
    expect([upload.mock.calls.length, palette.mock.calls.length]).toEqual([0, 1]);
  });

  it("belong to who came last, and to the one beneath when that has gone", async () => {
    const [page, dialog] = [vi.fn(), vi.fn()];
    const bindings = [{ keys: "Escape", does: "page", run: page }];
    const beneath = render(<Bound bindings={bindings} />);
    const above = render(<Bound bindings={[{ keys: "Escape", does: "dialog", run: dialog }]} />);
    await person.keyboard("{Escape}");
    above.unmount();
    await person.keyboard("{Escape}");
    expect([page.mock.calls.length, dialog.mock.calls.length]).toEqual([1, 1]);
    expect(allKeys().map((binding) => binding.does)).toEqual(["page"]);
    beneath.unmount();
    expect(allKeys()).toEqual([]);
  });
});
