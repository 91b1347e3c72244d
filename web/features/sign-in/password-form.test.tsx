import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { PasswordForm } from "./password-form";

const SEVERAL = {
  status: 409,
  body: {
    detail: "This email address and password belong to several organizations. Choose one.",
    organizations: [
      { id: "a", name: "Alfa AS" },
      { id: "b", name: "Beta AS" },
    ],
  },
};
const WRONG = { status: 401, body: { detail: "Incorrect email or password" } };
const ME = { status: 200, body: { id: "me" } };

const sent: unknown[] = [];
const onDone = vi.fn();

/** What the server answers, one after the other. */
function show(...answers: { status: number; body: object }[]) {
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    sent.push(JSON.parse(String(init.body)));
    const { status, body } = answers.shift() ?? WRONG;
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <PasswordForm problem={null} onDone={onDone} />
    </QueryClientProvider>,
  );
}

async function enter() {
  await userEvent.type(screen.getByLabelText("Email"), "p@a.no");
  await userEvent.type(screen.getByLabelText("Password"), "secret{Enter}");
}

const choice = () => screen.queryByRole("combobox", { name: "Organization" });

beforeEach(() => {
  sent.length = 0;
  onDone.mockReset();
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("PasswordForm", () => {
  it("asks for no organization unless the server does", async () => {
    show(WRONG, ME);
    await enter();
    expect((await screen.findByRole("alert")).textContent).toContain("Incorrect email or password");
    expect(choice()).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
    await vi.waitFor(() => expect(onDone).toHaveBeenCalledOnce());
    const body = { email: "p@a.no", password: "secret", organization_id: null };
    expect(sent).toEqual([body, body]);
  });

  it("signs in to the organization that was chosen", async () => {
    show(SEVERAL, ME);
    await enter();
    expect((await screen.findByRole("status")).textContent).toBe(SEVERAL.body.detail);
    expect(screen.getAllByRole("option").map((option) => option.textContent)).toEqual(["Alfa AS", "Beta AS"]);
    expect(document.activeElement).toBe(choice());
    await userEvent.selectOptions(screen.getByRole("combobox"), "Beta AS");
    await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
    await vi.waitFor(() => expect(onDone).toHaveBeenCalledOnce());
    expect(sent).toMatchObject([{ organization_id: null }, { organization_id: "b" }]);
  });

  it("keeps the choice when the sign-in fails, and forgets it with another address or password", async () => {
    show(SEVERAL, { status: 503, body: { detail: "The database is not responding. Try again shortly" } }, WRONG);
    await enter();
    await userEvent.selectOptions(await screen.findByRole("combobox"), "Beta AS");
    await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
    await screen.findByRole("alert");
    expect(choice()).toHaveProperty("value", "b");
    await userEvent.type(screen.getByLabelText("Password"), "s{Enter}");
    await screen.findByText("Incorrect email or password");
    expect(choice()).toBeNull();
    expect(sent.at(-1)).toMatchObject({ password: "secrets", organization_id: null });
  });

  it("does not ask to choose any more when there is nothing to choose from", async () => {
    show(SEVERAL);
    await enter();
    await screen.findByRole("combobox");
    await userEvent.type(screen.getByLabelText("Email"), "x");
    expect(choice()).toBeNull();
    expect(screen.queryByRole("status")).toBeNull();
  });
});
