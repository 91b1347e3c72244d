import { describe, expect, it } from "vitest";

import { pagesAround } from "./pager";

describe("the pages around the current one", () => {
  it("are all of them where they are few", () => expect(pagesAround(3, 7)).toEqual([1, 2, 3, 4, 5, 6, 7]));

  it.each([
    [1, [1, 2, 3, 4, 5, null, 65]],
    [4, [1, 2, 3, 4, 5, null, 65]],
    [5, [1, null, 4, 5, 6, null, 65]],
    [61, [1, null, 60, 61, 62, null, 65]],
    [62, [1, null, 61, 62, 63, 64, 65]],
    [65, [1, null, 61, 62, 63, 64, 65]],
  ])("of page %d keep their number, so that nothing jumps", (page, expected) => {
    expect(pagesAround(page, 65)).toEqual(expected);
  });
});
