import { describe, expect, it } from "vitest";

import type { Hit } from "@/lib/api";

import { findOf, groupsOf, hrefOfHit } from "./groups";

const hit = (document: string, page: number, more: Partial<Hit> = {}): Hit => ({
  document_id: document,
  document_name: `${document}.pdf`,
  document_type: "contract",
  kb_id: "kb",
  page,
  chunk_index: page,
  snippet: "The notice period begins.",
  highlights: [
    [4, 10],
    [11, 17],
  ],
  score: 1,
  created_at: "2026-06-15T12:00:00Z",
  matched: "both",
  image_url: null,
  ...more,
});

describe("groupsOf", () => {
  it("keeps documents in the order of their best passage, and within each the best first", () => {
    const groups = groupsOf([hit("b", 12), hit("a", 3), hit("b", 2)]);
    expect(groups.map((group) => [group.name, group.hits.map(({ hit: one }) => one.page)])).toEqual([
      ["b.pdf", [12, 2]],
      ["a.pdf", [3]],
    ]);
  });

  it("numbers passages as they stand on the page, for the arrow keys", () => {
    expect(groupsOf([hit("b", 12), hit("a", 3), hit("b", 2)]).flatMap((group) => group.hits.map(({ index }) => index))).toEqual([0, 1, 2]);
    expect(groupsOf([])).toEqual([]);
  });
});

describe("findOf", () => {
  it("looks for what was asked where the passage has all of it", () => {
    expect(findOf(hit("a", 1), "notice period")).toBe("notice period");
    expect(findOf(hit("a", 1), '"notice period" -lease')).toBe('"notice period" -lease');
  });

  it("looks for the words that the passage has where it lacks others", () => {
    expect(findOf(hit("a", 1), "how long is the notice period")).toBe("notice period");
  });

  it("looks for nothing where only the meaning was found", () => {
    expect(findOf(hit("a", 1, { highlights: [] }), "kündigen")).toBe("");
  });
});

it("a passage opens its page at its place", () => {
  const href = new URL(hrefOfHit(hit("a", 12), "notice period"), "http://x");
  expect(Object.fromEntries(href.searchParams)).toEqual({ kb: "kb", id: "a", page: "12", find: "notice period", at: "The notice period begins." });
});
