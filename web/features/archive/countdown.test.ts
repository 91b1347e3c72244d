import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { countDown } from "./countdown";

describe("counting down", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("tells every second and ends when they are over", async () => {
    const left: number[] = [];
    const done = vi.fn();
    void countDown(3, (seconds) => left.push(seconds), new AbortController().signal).then(done);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(left).toEqual([3, 2, 1]);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(left).toEqual([3, 2, 1, 0]);
    expect(done).toHaveBeenCalled();
  });

  it("ends at once when it is stopped, and tells nothing more", async () => {
    const stop = new AbortController();
    const left: number[] = [];
    const done = vi.fn();
    void countDown(60, (seconds) => left.push(seconds), stop.signal).then(done);
    stop.abort();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(done).toHaveBeenCalled();
    expect(left).toEqual([60]);
  });
});
