import { describe, expect, it } from "vitest";

import { joinSpans, overlaps, piecesOf, spansWithin } from "./spans";

const shown = (text: string, spans: readonly (readonly [number, number])[]) =>
  piecesOf(text, spans).map((piece) => (piece.span === null ? piece.text : `[${piece.span}:${piece.text}]`));

describe("piecesOf", () => {
  it("cuts a text at its spans and loses nothing of it", () => {
    expect(
      shown("the notice period begins", [
        [4, 10],
        [11, 17],
      ]),
    ).toEqual(["the ", "[0:notice]", " ", "[1:period]", " begins"]);
    expect(shown("plain", [])).toEqual(["plain"]);
    expect(shown("all", [[0, 3]])).toEqual(["[0:all]"]);
  });

  it("counts characters as the server does, not halves of them", () => {
    expect(shown("📄📄 lease", [[3, 8]])).toEqual(["📄📄 ", "[0:lease]"]);
  });

  it("keeps to the text where a span reaches beyond it or over another", () => {
    expect(shown("lease", [[3, 99]])).toEqual(["lea", "[0:se]"]);
    expect(
      shown("lease", [
        [0, 3],
        [2, 5],
      ]),
    ).toEqual(["[0:lea]", "[1:se]"]);
    expect(shown("lease", [[9, 12]])).toEqual(["lease"]);
  });
});

it("spans of a page become spans of a paragraph, with the same numbers", () => {
  const within = spansWithin(
    [
      [2, 4],
      [12, 15],
      [30, 31],
    ],
    [10, 20],
  );
  expect(piecesOf("0123456789", within).filter((piece) => piece.span !== null)).toEqual([{ text: "234", span: 1 }]);
});

it("two spans that only touch do not overlap", () => {
  expect(overlaps([0, 3], [3, 5])).toBe(false);
  expect(overlaps([0, 4], [3, 5])).toBe(true);
});

it("words beside each other are one mark, words apart are two", () => {
  expect(
    joinSpans([
      [0, 6],
      [7, 13],
      [15, 20],
    ]),
  ).toEqual([
    [0, 13],
    [15, 20],
  ]);
  expect(joinSpans([])).toEqual([]);
});
