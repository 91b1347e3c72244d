import { describe, expect, it } from "vitest";

import { findPassage, highlightsIn, nameOf } from "./passage";

const PAGE = "9 Term\n\n9.2 Either party may\nterminate this  agreement by giving\nthree months’ written notice. 📄 The notice period\nbegins.";

const cut = (span: readonly [number, number] | null) => (span ? [...PAGE].slice(...span).join("") : null);

describe("findPassage", () => {
  it("finds a snippet over line ends and double spaces", () => {
    expect(cut(findPassage(PAGE, "…may terminate this agreement by…"))).toBe("may\nterminate this  agreement by");
  });

  it("counts characters behind a picture as the server does", () => {
    expect(cut(findPassage(PAGE, "…The notice period begins."))).toBe("The notice period\nbegins.");
  });

  it("finds nothing where nothing is", () => {
    expect(findPassage(PAGE, "another agreement")).toBeNull();
    expect(findPassage(PAGE, "……")).toBeNull();
  });
});

it("highlights of a snippet become places of the page", () => {
  const snippet = "…written notice. 📄 The notice period begins.";
  const letters = [...snippet];
  const start = letters.join("").indexOf("notice period") - 1; // the picture has two halves and is one character
  expect(letters.slice(start, start + 13).join("")).toBe("notice period");
  expect(highlightsIn(PAGE, snippet, [[start, start + 13]]).map((span) => cut(span))).toEqual(["notice period"]);
  expect(highlightsIn("another page", snippet, [[0, 3]])).toEqual([]);
});

it("a passage is named by its first words", () => {
  expect(nameOf("…short one…")).toBe("short one");
  const long = nameOf(`…${"considerable ".repeat(20)}`);
  expect(long.length).toBeLessThanOrEqual(70);
  expect(long.endsWith("considerable")).toBe(true);
  expect(findPassage(`x ${"considerable\n".repeat(20)}`, long)).not.toBeNull();
});
