import { describe, expect, it } from "vitest";

import { barsOf, heightAt, stepOf, ticksOf } from "./chart-scale";

const FRAME = { left: 40, right: 520, top: 10, bottom: 110 };

describe("the scale of a chart", () => {
  it("ends on a round number that no bar passes", () => {
    for (const highest of [0, 1, 3, 4, 5, 9, 37, 40, 41, 399, 400, 401, 1_630, 99_999]) {
      const top = stepOf(highest) * 4;
      expect(top).toBeGreaterThanOrEqual(highest);
      expect(String(stepOf(highest))).toMatch(/^[125]0*$/);
      expect(top).toBeLessThanOrEqual(Math.max(4, highest * 2.5)); // nor is it half empty
    }
  });

  it("counts in whole documents, also when there are few", () => {
    expect(ticksOf(stepOf(2))).toEqual([0, 1, 2, 3, 4]);
    expect(ticksOf(stepOf(1_630))).toEqual([0, 500, 1_000, 1_500, 2_000]);
  });

  it("puts zero on the line and the top at the top", () => {
    expect(heightAt(0, 5, FRAME)).toBe(110);
    expect(heightAt(20, 5, FRAME)).toBe(10);
    expect(heightAt(10, 5, FRAME)).toBe(60);
  });

  it("gives every hour its place, none over the edge", () => {
    const bars = barsOf(24, FRAME);
    expect(bars).toHaveLength(24);
    expect(bars[0]?.x).toBeCloseTo(42.5);
    expect((bars[23]?.x ?? 0) + (bars[23]?.width ?? 0)).toBeLessThan(520);
  });
});
