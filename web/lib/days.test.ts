import { describe, expect, it } from "vitest";

import { afterDay, dayBefore, endOfDay, startOfDay } from "./days";

describe("days", () => {
  it("begin at midnight where the reader is", () => {
    expect(startOfDay("2026-11-15")).toBe("2026-11-14T23:00:00.000Z");
  });

  it("end where the next one begins, also when the clock was put back", () => {
    expect(afterDay("2026-10-25")).toBe("2026-10-25T23:00:00.000Z");
    expect(startOfDay("2026-10-25")).toBe("2026-10-24T22:00:00.000Z");
    expect(endOfDay("2026-11-15")).toBe("2026-11-15T22:59:59.999Z");
  });

  it("are counted back over the end of a month", () => {
    expect(dayBefore(new Date(2026, 2, 1, 12), 1)).toBe("2026-02-28");
  });
});
