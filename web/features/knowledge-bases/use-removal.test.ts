import { describe, expect, it, vi } from "vitest";

import type { KnowledgeBase, KnowledgeBaseRemoved } from "@/lib/api";

import { removeAll } from "./use-removal";

const kb = (documents: number): KnowledgeBase => ({
  id: "kb",
  name: "Contracts",
  description: "",
  owner_id: "me",
  owner_email: "me@example.org",
  hand_over_policy: "never",
  role: "owner",
  counts: { pending: 0, processing: 0, completed: documents, failed: 0, archived: 0 },
  created_at: "",
  updated_at: "",
});
const left = (remaining: number, pending = 0, blocked_ids: string[] = []): KnowledgeBaseRemoved => ({ message: "", remaining, pending, blocked_ids });

describe("removing a knowledge base", () => {
  it("asks to purge only where there is something to purge", async () => {
    const remove = vi.fn(() => Promise.resolve(null));
    expect(await removeAll(kb(0), vi.fn(), remove)).toBeNull();
    expect(remove).toHaveBeenCalledWith("kb", { purge: false });
    await removeAll(kb(1), vi.fn(), remove);
    expect(remove).toHaveBeenLastCalledWith("kb", { purge: true });
  });

  it("goes on until nothing is left, not even unproven", async () => {
    const answers = [left(300), left(40), left(0, 12), left(0, 0)];
    const seen = vi.fn();
    expect(await removeAll(kb(500), seen, () => Promise.resolve(answers.shift()!))).toBeNull();
    expect(seen.mock.calls.map(([one]) => (one as KnowledgeBaseRemoved).remaining)).toEqual([300, 40, 0]);
  });

  it("ends when a call has moved nothing, and says what is in the way", async () => {
    const answers = [left(2, 0, ["a", "b"]), left(2, 0, ["a", "b"])];
    const stayed = await removeAll(kb(2), vi.fn(), () => Promise.resolve(answers.shift()!));
    expect(stayed?.blocked_ids).toEqual(["a", "b"]);
  });
});
