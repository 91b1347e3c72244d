import { describe, expect, it } from "vitest";

import { findingOf } from "./hours";

const hour = (at: string, done: number, failed = 0) => ({ hour: `2026-11-15T${at}:00:00Z`, done, failed });

describe("the finding of the last day", () => {
  it("says how many, how many failed, and when most was done, by the reader's clock", () => {
    expect(findingOf([hour("07", 3), hour("08", 40, 1), hour("09", 5)])).toBe(
      "In the last 24 hours 48\u00a0documents were read and 1\u00a0has failed. Most, 40, from 09:00 to 10:00.",
    );
  });

  it("says no hour when nothing was done in any", () => {
    expect(findingOf([hour("07", 0, 2)])).toBe("In the last 24 hours 0\u00a0documents were read and 2\u00a0have failed.");
  });
});
