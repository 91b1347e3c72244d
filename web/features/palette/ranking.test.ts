import { describe, expect, it } from "vitest";

import { fitOf, ranked } from "./ranking";

const underlined = (label: string, typed: string) => fitOf(label, typed)?.spans.map(([start, end]) => [...label].slice(start, end).join(""));

describe("fitOf", () => {
  it("underlines the letters that were typed, whatever their case", () => {
    expect(underlined("Go to Archive", "arch")).toEqual(["Arch"]);
    expect(underlined("Framework agreement, archived", "archi frame")).toEqual(["Frame", "archi"]);
  });

  it("needs every word, each at a place of its own", () => {
    expect(fitOf("Archive", "arch log")).toBeNull();
    expect(fitOf("Archive", "arch arch")).toBeNull();
    expect(underlined("lease lease", "lease lease")).toEqual(["lease", "lease"]);
  });

  it("keeps its place behind letters that grow in lower case, and behind pictures", () => {
    expect(underlined("İstanbul lease", "lease")).toEqual(["lease"]);
    expect(underlined("📄📄 lease", "lease")).toEqual(["lease"]);
  });
});

describe("ranked", () => {
  const labels = (items: readonly string[], typed: string) =>
    ranked(
      items.map((label) => ({ label })),
      typed,
      (item) => item.label,
    ).map((item) => item.label);

  it("puts beginnings before beginnings of words before the inside of words, and short before long", () => {
    expect(labels(["Search", "Go to Archive", "Archive selected and more", "Archive", "The march"], "arch")).toEqual([
      "Archive",
      "Archive selected and more",
      "Go to Archive",
      "Search",
      "The march",
    ]);
  });

  it("shows all as they stand while nothing is typed", () => {
    expect(labels(["b", "a"], "  ")).toEqual(["b", "a"]);
  });
});
