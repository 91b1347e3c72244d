import { act, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";

import { deferred } from "./deferred";
import { ErrorBoundary } from "./error-boundary";

function Greeting() {
  return <p>Good morning</p>;
}

function lateCode(): Error {
  return Object.assign(new Error("Loading chunk 7 failed."), { name: "ChunkLoadError" });
}

describe("a component that comes later", () => {
  it("is there when its code is", async () => {
    const Late = deferred(() => Promise.resolve(Greeting));
    render(<Late />);
    expect(await screen.findByText("Good morning")).toBeTruthy();
  });

  it("tells whoever waits for it that its code cannot be fetched", async () => {
    const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const Late = deferred(() => Promise.reject(lateCode()));
    render(
      <ErrorBoundary>
        <Late />
      </ErrorBoundary>,
    );
    expect((await screen.findByRole("alert")).textContent).toContain("Part of this page could not be loaded");
    silent.mockRestore();
  });

  it("asks again for what could not be fetched in advance", async () => {
    const load = vi.fn().mockRejectedValueOnce(lateCode()).mockResolvedValueOnce(Greeting);
    const Late = deferred(load);
    await act(() => Late.preload());
    render(<Late />);
    expect(await screen.findByText("Good morning")).toBeTruthy();
  });
});
