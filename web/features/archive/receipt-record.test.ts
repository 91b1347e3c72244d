import { describe, expect, it } from "vitest";

import { factsOf, grouped } from "./receipt-record";

const RECORD = {
  format: "muniment-receipt/1",
  move: "purge",
  document: { id: "doc-1", name: "Rahmenvertrag.pdf", kb_id: "kb-1" },
  by: "user-1",
  at: "2026-11-15T09:04:18Z",
  found: { rows: { documents: 1 } },
  second_look: { at: "2026-11-15T09:04:19Z", looked_for: { tapes: 1, blobs: 2, jobs: 0, rows: 61 }, left: { rows: 0, blobs: 0, jobs: 0, index: 0, tapes: 0 } },
  kept: [
    { store: "paperless", url: "https://paperless.example.org/4711", reason: "It was handed over" },
    { store: "queue", url: "javascript:alert(1)", reason: "On its way" },
  ],
  audit: { seq: 10511, hash: "9f3c" },
  key_id: "k1",
};
const facts = (record: Record<string, unknown>) => factsOf({ id: "r", signed_at: "", record, signature: "fR5Ayf//" });

describe("a receipt", () => {
  it("tells for each store that held something what was there and what a second look found", () => {
    expect(facts(RECORD).stores).toEqual([
      { store: "rows", before: 61, after: 0 },
      { store: "blobs", before: 2, after: 0 },
      { store: "tapes", before: 1, after: 0 },
    ]);
  });

  it("tells a store in which something was left, even where nothing was looked for", () => {
    const look = { looked_for: {}, left: { queue: 1 } };
    expect(facts({ ...RECORD, second_look: look }).stores).toEqual([{ store: "queue", before: 0, after: 1 }]);
  });

  it("links to what is kept only where that is a page", () => {
    expect(facts(RECORD).kept.map((kept) => kept.url)).toEqual(["https://paperless.example.org/4711", null]);
  });

  it("stays readable when it is written in a way that we do not know", () => {
    expect(facts({ format: "muniment-receipt/9", kept: "much" })).toMatchObject({ stores: [], kept: [], seq: null, documentName: "" });
  });

  it("shows the ends of its signature", () => {
    expect(grouped("fR5Ayf//")).toEqual(["7d1e 40c9", "ffff"]);
  });
});
