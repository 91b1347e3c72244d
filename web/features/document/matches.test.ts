import { describe, expect, it } from "vitest";

import type { PageMatch } from "@/lib/api";

import { countByPage, firstFrom, matchesOf, stepFrom } from "./matches";

const page = (number: number, ...spans: [number, number][]): PageMatch => ({ page: number, snippet: "", highlights: [], boxes: [], spans });

const MATCHES = matchesOf([page(4, [10, 16], [17, 23], [90, 96]), page(12, [5, 11]), page(58)]);

describe("matchesOf", () => {
  it("counts neighbouring words once, words apart one by one, a page without places as one", () => {
    expect(MATCHES).toEqual([
      { page: 4, span: [10, 23] },
      { page: 4, span: [90, 96] },
      { page: 12, span: [5, 11] },
      { page: 58, span: null },
    ]);
  });
});

describe("stepFrom", () => {
  it("goes round and round", () => {
    expect(stepFrom(MATCHES, 3, 1, 1)).toBe(0);
    expect(stepFrom(MATCHES, 0, -1, 1)).toBe(3);
    expect(stepFrom(MATCHES, 1, 1, 1)).toBe(2);
  });

  it("starts at the page that is looked at", () => {
    expect(stepFrom(MATCHES, null, 1, 5)).toBe(2);
    expect(stepFrom(MATCHES, null, -1, 5)).toBe(1);
    expect(stepFrom(MATCHES, null, 1, 60)).toBe(0);
    expect(stepFrom(MATCHES, null, -1, 1)).toBe(3);
    expect(stepFrom([], null, 1, 1)).toBeNull();
  });
});

describe("firstFrom", () => {
  it("is the one in the passage that was chosen, not the first of its page", () => {
    expect(firstFrom(MATCHES, 4, 50, false)).toBe(1);
    expect(firstFrom(MATCHES, 4, 0, false)).toBe(0);
    expect(firstFrom(MATCHES, 4, 500, false)).toBe(0);
  });

  it("does not leave the page that somebody was sent to, unless they search themselves", () => {
    expect(firstFrom(MATCHES, 7, 0, false)).toBeNull();
    expect(firstFrom(MATCHES, 7, 0, true)).toBe(2);
  });
});

it("the ruler knows how many each page has", () => {
  expect([...countByPage(MATCHES)]).toEqual([
    [4, 2],
    [12, 1],
    [58, 1],
  ]);
});
