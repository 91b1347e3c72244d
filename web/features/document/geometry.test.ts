import { describe, expect, it } from "vitest";

import { around, boxesOf, imageWidth, joined, placeOf } from "./geometry";

describe("placeOf", () => {
  it("is a share of the page, whatever size its picture has", () => {
    expect(placeOf([59.5, 84.2, 119, 168.4], { width: 595, height: 842 })).toEqual({ left: "10%", top: "10%", width: "10%", height: "10%" });
  });

  it("takes a turned page as people see it: width and height are those of the picture", () => {
    // A4 turned by 90 degrees: the layout is 842 wide, and a box near its right edge stays near the right edge.
    expect(placeOf([757.8, 0, 842, 59.5], { width: 842, height: 595 })).toEqual({ left: "90%", top: "0%", width: "10%", height: "10%" });
  });

  it("shows what lies beside the page at its edge", () => {
    expect(placeOf([-50, -50, 5000, 5000], { width: 500, height: 500 })).toEqual({ left: "0%", top: "0%", width: "100%", height: "100%" });
    expect(placeOf([600, 600, 700, 700], { width: 500, height: 500 }).width).toBe("0%");
  });
});

const WORDS: [number, number, number, number, number, number][] = [
  [0, 6, 10, 10, 40, 20],
  [7, 13, 43, 10, 70, 20],
  [14, 20, 10, 24, 40, 34],
];

it("boxes are those of the words in a span, and of no neighbour", () => {
  expect(boxesOf([[7, 13]], WORDS)).toEqual([[43, 10, 70, 20]]);
  expect(boxesOf([[3, 8]], WORDS)).toHaveLength(2);
  expect(boxesOf([[6, 7]], WORDS)).toEqual([]);
});

it("words beside each other are one mark, the next line is another", () => {
  expect(joined(boxesOf([[0, 20]], WORDS))).toEqual([
    [10, 10, 70, 20],
    [10, 24, 40, 34],
  ]);
  expect(
    joined([
      [10, 10, 40, 20],
      [300, 10, 340, 20],
    ]),
  ).toHaveLength(2);
});

it("around several boxes lies one", () => {
  expect(
    around([
      [10, 10, 40, 20],
      [5, 24, 30, 34],
    ]),
  ).toEqual([5, 10, 40, 34]);
});

it("pictures come in few sizes, never too coarse and never larger than the server draws", () => {
  expect(imageWidth(470, 1)).toBe(600);
  expect(imageWidth(470, 2)).toBe(1000);
  expect(imageWidth(900, 3)).toBe(3000);
  expect(imageWidth(4000, 2)).toBe(3000);
});
