import { describe, expect, it } from "vitest";

import type { Status } from "@/lib/api";

import { mayHaveOldOne, planOf, type Rights } from "./menu-plan";

const OWNER: Rights = { mayManage: true, mayEdit: true, canRevert: false, hasFailedReplacement: false };
const EDITOR: Rights = { mayManage: false, mayEdit: true, canRevert: false, hasFailedReplacement: false };
const VIEWER: Rights = { mayManage: false, mayEdit: false, canRevert: false, hasFailedReplacement: false };
const plan = (status: Status, rights: Rights) =>
  planOf(status, rights)
    .map((group) => group.map(({ act, isOff }) => (isOff ? `(${act})` : act)).join(" "))
    .join(" | ");

describe("the menu of a document", () => {
  it.each<[Status, Rights, string]>([
    ["completed", OWNER, "open download explain | replace archive"],
    ["completed", { ...OWNER, hasFailedReplacement: true }, "open download explain | failedReplacement | replace archive"],
    ["completed", { ...EDITOR, hasFailedReplacement: true }, "open download explain"],
    ["pending", OWNER, "open download explain | cancel | replace"],
    ["processing", OWNER, "open download explain | cancel | (replace) (archive)"],
    ["failed", OWNER, "open download explain | retry | replace clear"],
    ["failed", { ...OWNER, canRevert: true }, "open download explain | retry bringBack | replace clear"],
    ["archived", OWNER, "open download explain"],
    ["failed", EDITOR, "open download explain | retry"],
    ["processing", EDITOR, "open download explain"],
    ["failed", { ...VIEWER, canRevert: true }, "open download explain"],
    ["completed", VIEWER, "open download explain"],
  ])("that is %s", (status, rights, expected) => {
    expect(plan(status, rights)).toBe(expected);
  });

  it("asks for an older file only where there may be one", () => {
    const failed = { status: "failed", revision: 2, completed_at: "2026-01-01T00:00:00Z" } as const;
    expect(mayHaveOldOne(failed)).toBe(true);
    expect(mayHaveOldOne({ ...failed, revision: 1 })).toBe(false);
    expect(mayHaveOldOne({ ...failed, completed_at: null })).toBe(false);
    expect(mayHaveOldOne({ ...failed, status: "completed" })).toBe(false);
  });
});
