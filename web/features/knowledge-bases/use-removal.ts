"use client";

import { useState } from "react";

import { removeKnowledgeBase, type KnowledgeBase, type KnowledgeBaseRemoved } from "@/lib/api";

import { documentsOf } from "./counts";

export type Removing =
  | { state: "asking" }
  | { state: "running"; left: KnowledgeBaseRemoved | null }
  /** It goes no further by itself: something is in the way, or the server said no. */
  | { state: "halted"; left: KnowledgeBaseRemoved | null; error: unknown };

/** A large one takes several calls; each goes on where the last one ended. Ends when a call has moved nothing. */
export function useRemoval(kb: KnowledgeBase, onGone: () => void): [Removing, () => Promise<void>] {
  const [removing, setRemoving] = useState<Removing>({ state: "asking" });
  const run = async () => {
    setRemoving((before) => ({ state: "running", left: before.state === "asking" ? null : before.left }));
    try {
      const left = await removeAll(kb, (left) => setRemoving({ state: "running", left }));
      if (left === null) onGone();
      else setRemoving({ state: "halted", left, error: null });
    } catch (error) {
      setRemoving((before) => ({ state: "halted", left: before.state === "asking" ? null : before.left, error }));
    }
  };
  return [removing, run];
}

/** Null when nothing is left of it; otherwise what stayed although we asked again. */
export async function removeAll(
  kb: KnowledgeBase,
  onLeft: (left: KnowledgeBaseRemoved) => void,
  remove = removeKnowledgeBase,
): Promise<KnowledgeBaseRemoved | null> {
  let before = Infinity;
  for (;;) {
    const left = await remove(kb.id, { purge: documentsOf(kb) > 0 });
    const total = left ? left.remaining + left.pending : 0;
    if (left === null || total === 0) return null;
    if (total >= before) return left;
    before = total;
    onLeft(left);
  }
}
