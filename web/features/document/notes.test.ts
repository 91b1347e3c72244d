import { describe, expect, it } from "vitest";

import { noteOf, numbered, withNote, type NotePlace } from "./notes";

const NOW = new Date("2026-11-16T09:00:00Z");
const PARAGRAPH: NotePlace = { kind: "paragraph", page: 2, index: 4 };

describe("withNote", () => {
  it("keeps what a program wrote beside it", () => {
    expect(withNote({ risk: "high" }, " ask the lawyer ", "editor@example.org", NOW)).toEqual({
      risk: "high",
      note: "ask the lawyer",
      by: "editor@example.org",
      at: "2026-11-16T09:00:00.000Z",
    });
  });

  it("takes away the note and nothing else", () => {
    const written = withNote({ risk: "high" }, "ask", "editor@example.org", NOW);
    expect(withNote(written, "  ", "editor@example.org", NOW)).toEqual({ risk: "high" });
    expect(withNote(withNote(null, "ask", "editor@example.org", NOW), "", "editor@example.org", NOW)).toBeNull();
  });
});

describe("noteOf", () => {
  it("is nothing where nothing is written", () => {
    expect(noteOf(PARAGRAPH, null, null)).toBeNull();
    expect(noteOf(PARAGRAPH, {}, null)).toBeNull();
  });

  it("does not take a program's values for a person's words", () => {
    expect(noteOf(PARAGRAPH, { note: { deep: 1 }, by: 7, at: "yesterday" }, null)).toMatchObject({ text: null, by: null, at: null });
  });
});

it("pins are numbered as the document goes, the lost ones last", () => {
  const note = (place: NotePlace, stale: string | null = null) => noteOf(place, { note: "x" }, stale)!;
  const places = numbered([
    note({ kind: "paragraph", page: 9, index: -1 }, "2026-01-01T00:00:00Z"),
    note({ kind: "diagram", page: 2, key: "d" }),
    note(PARAGRAPH),
    note({ kind: "paragraph", page: 2, index: 1 }),
    note({ kind: "page", page: 2 }),
    note({ kind: "page", page: 11 }),
    note(PARAGRAPH),
  ]);
  expect(places.map(({ number, place, isStale }) => [number, place.kind, place.page, isStale])).toEqual([
    [1, "page", 2, false],
    [2, "paragraph", 2, false],
    [3, "paragraph", 2, false],
    [4, "diagram", 2, false],
    [5, "page", 11, false],
    [6, "paragraph", 9, true],
  ]);
});
