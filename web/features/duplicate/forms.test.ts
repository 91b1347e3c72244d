import { describe, expect, it } from "vitest";

import type { Status } from "@/lib/api";

import { actsOf, differenceOf, equalsOf, formOf, roundOf, wordOf, type Asking } from "./forms";

const manager = { mayManage: true, canRevert: false };
const words = (status: Status, rights = manager) => actsOf(formOf(status), rights).map((act) => wordOf(act, formOf(status)));

describe("what can be done about a taken name", () => {
  it.each<[Status, string[]]>([
    ["completed", ["Replace Existing"]],
    ["pending", ["Replace Existing"]],
    ["archived", ["Replace Archived", "Restore Existing"]],
    ["processing", []],
    ["failed", ["Replace"]],
  ])("of a document that is %s", (status, expected) => {
    expect(words(status)).toEqual(expected);
  });

  it("brings the old one back where there is one", () => {
    expect(words("failed", { mayManage: true, canRevert: true })).toEqual(["Replace", "Revert to previous version"]);
  });

  it("is nothing for those who may only add", () => {
    for (const status of ["completed", "archived", "failed", "processing"] as const) {
      expect(words(status, { mayManage: false, canRevert: true })).toEqual([]);
    }
  });

  it("is an upload when it is gone, for everybody", () => {
    expect(actsOf("gone", { mayManage: false, canRevert: false })).toEqual(["upload"]);
  });
});

const asking = (id: number, existingStatus: Status, kbId = "kb"): Asking => ({
  id,
  kbId,
  file: new File([], String(id)),
  documentType: "other",
  replaces: null,
  documentId: null,
  state: { kind: "asking", existingId: `e${id}`, existingStatus },
});

describe("several at once", () => {
  it("have equals only among their own form and knowledge base", () => {
    const current = asking(1, "completed");
    const waiting = [current, asking(2, "pending"), asking(3, "archived"), asking(4, "completed", "other"), asking(5, "completed")];
    expect(equalsOf(current, "active", waiting).map(({ id }) => id)).toEqual([2, 5]);
    expect(equalsOf(current, "archived", waiting).map(({ id }) => id)).toEqual([3]);
  });

  it("are counted from the first to the last, those that were decided included", () => {
    let round = roundOf([], [{ id: 7 }, { id: 8 }]);
    expect(round).toEqual([7, 8]);
    round = roundOf(round, [{ id: 8 }, { id: 9 }]);
    expect(round).toEqual([7, 8, 9]);
    expect(roundOf(round, [{ id: 9 }])).toBe(round);
    expect(roundOf(round, [])).toEqual([]);
  });
});

describe("the difference", () => {
  const existing = { file_size: 4_800_000, sha256: "abc", created_at: "2026-11-12T10:00:00Z" };
  const newer = Date.parse("2026-11-15T10:00:00Z");
  const older = Date.parse("2026-01-15T10:00:00Z");

  it.each([
    [{ size: 5_100_000, lastModified: newer }, null, "Your file is newer and 300\u00a0kB larger."],
    [{ size: 4_000_000, lastModified: older }, null, "Your file is older and 800\u00a0kB smaller."],
    [{ size: 4_800_000, lastModified: newer }, null, "Both files have the same size and may be identical."],
    [{ size: 4_800_000, lastModified: newer }, "def", "Both files have the same size and may be identical."],
    [{ size: 4_800_000, lastModified: newer }, "abc", "The files are identical."],
  ])("is one sentence", (file, hash, sentence) => {
    expect(differenceOf(existing, file, hash)).toBe(sentence);
  });
});
