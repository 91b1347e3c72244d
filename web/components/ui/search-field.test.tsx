import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { SearchField } from "./search-field";

const type = (value: string) => fireEvent.change(screen.getByRole("searchbox"), { target: { value } });
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

describe("a search field", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    cleanup();
    vi.useRealTimers();
  });

  it("asks once, 300 ms after the last letter", async () => {
    const onSearch = vi.fn();
    render(<SearchField label="Find" value="" onSearch={onSearch} />);
    type("l");
    await pass(200);
    type("le ");
    await pass(299);
    expect(onSearch).not.toHaveBeenCalled();
    await pass(1);
    expect(onSearch.mock.calls).toEqual([["le"]]);
    await pass(1_000);
    expect(onSearch).toHaveBeenCalledTimes(1);
  });

  it("asks at once on Enter, and not a second time", async () => {
    const onSearch = vi.fn();
    render(<SearchField label="Find" value="" onSearch={onSearch} />);
    type("lease");
    fireEvent.keyDown(screen.getByRole("searchbox"), { key: "Enter" });
    expect(onSearch.mock.calls).toEqual([["lease"]]);
    await pass(1_000);
    expect(onSearch).toHaveBeenCalledTimes(1);
  });

  it("shows what the address says when somebody goes back, and asks nothing for it", async () => {
    const onSearch = vi.fn();
    const { rerender } = render(<SearchField label="Find" value="lease" onSearch={onSearch} />);
    rerender(<SearchField label="Find" value="" onSearch={onSearch} />);
    expect(screen.getByRole<HTMLInputElement>("searchbox").value).toBe("");
    await pass(1_000);
    expect(onSearch).not.toHaveBeenCalled();
  });

  it("keeps what is being typed while the answer to an earlier question comes", async () => {
    const { rerender } = render(<SearchField label="Find" value="" onSearch={() => undefined} />);
    type("le");
    await pass(300);
    type("lease");
    rerender(<SearchField label="Find" value="le" onSearch={() => undefined} />);
    expect(screen.getByRole<HTMLInputElement>("searchbox").value).toBe("lease");
  });
});
