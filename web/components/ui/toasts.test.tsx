import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { dismissToast, showToast, toasts } from "./toast-store";
import { Toasts } from "./toasts";

beforeEach(() => {
  vi.useFakeTimers();
  render(<Toasts />);
});
afterEach(() => {
  act(() => {
    for (const item of toasts.all()) dismissToast(item.id);
  });
  cleanup();
  vi.useRealTimers();
});

const show = (text: string, action?: () => void) =>
  act(() => {
    showToast(action ? { text, action: { label: "Undo", onSelect: action } } : { text });
  });
const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms));

describe("toasts", () => {
  it("stay six seconds, and ten with a way back", () => {
    show("Saved");
    show("Archived 'a.pdf'", () => undefined);
    pass(6_000);
    expect(screen.queryByText("Saved")).toBeNull();
    pass(3_900);
    expect(screen.queryByText("Archived 'a.pdf'")).not.toBeNull();
    pass(200);
    expect(screen.queryByText("Archived 'a.pdf'")).toBeNull();
  });

  it("wait while the pointer or the focus is on them", () => {
    show("Archived 'a.pdf'", () => undefined);
    const toast = screen.getByText("Archived 'a.pdf'").parentElement!;
    fireEvent.pointerEnter(toast);
    pass(60_000);
    expect(screen.queryByText("Archived 'a.pdf'")).not.toBeNull();
    fireEvent.pointerLeave(toast);
    fireEvent.focus(screen.getByText("Undo"));
    pass(60_000);
    expect(screen.queryByText("Archived 'a.pdf'")).not.toBeNull();
    fireEvent.blur(screen.getByText("Undo"));
    pass(10_000);
    expect(screen.queryByText("Archived 'a.pdf'")).toBeNull();
  });

  it("are three at most", () => {
    for (const text of ["one", "two", "three", "four"]) show(text);
    expect(toasts.all().map((item) => item.text)).toEqual(["two", "three", "four"]);
  });

  it("undo once and are gone", () => {
    const undo = vi.fn();
    show("Archived 'a.pdf'", undo);
    fireEvent.click(screen.getByText("Undo"));
    expect(undo).toHaveBeenCalledOnce();
    expect(toasts.all()).toEqual([]);
  });

  it("are read aloud: quietly, or at once where something failed", () => {
    show("Saved");
    act(() => {
      showToast({ text: "Upload failed", tone: "alert" });
    });
    expect(screen.getByRole("status").textContent).toContain("Saved");
    expect(screen.getByRole("alert").textContent).toContain("Upload failed");
  });
});
