import { describe, expect, it } from "vitest";

import { findingOf } from "./hours";

const hour = (at: string, done: number, failed = 0) => ({ hour: `2026-11-15T${at}:00:00Z`, done, failed });

describe("the finding of the last day", () => {
  it("says how many, how many failed, and when most was done, by the reader's clock", () => {
    expect(findingOf([hour("07", 3), hour("08", 40, 1), hour("09", 5)])).toBe(
      "48\u00a0documents processed and 1 failed in the last 24 hours. Peak: 40 between 09:00 and 10:00.",
    );
  });

  it("says no hour when nothing was done in any", () => {
    expect(findingOf([hour("07", 0, 2)])).toBe("0\u00a0documents processed and 2 failed in the last 24 hours.");
  });
});
