"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";

import { changeKnowledgeBase, createKnowledgeBase, keys, type KnowledgeBase, type KnowledgeBaseChange } from "@/lib/api";

/** After a change every list that shows knowledge bases is asked anew. */
export function useRefreshKnowledgeBases(): () => Promise<unknown> {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: keys.knowledgeBases() }),
      client.invalidateQueries({ queryKey: ["knowledge-base"] }),
      client.invalidateQueries({ queryKey: ["members"] }), // a new owner is no member any more, the old one is
    ]);
}

export function useCreateKnowledgeBase(onMade: (kb: KnowledgeBase) => void) {
  const refresh = useRefreshKnowledgeBases();
  return useMutation({
    mutationFn: ({ name, description }: { name: string; description: string }) => createKnowledgeBase(name, description),
    onSuccess: async (kb) => {
      await refresh();
      onMade(kb);
    },
  });
}

export function useChangeKnowledgeBase(kbId: string, onChanged: (kb: KnowledgeBase) => void) {
  const refresh = useRefreshKnowledgeBases();
  return useMutation({
    mutationFn: (change: KnowledgeBaseChange) => changeKnowledgeBase(kbId, change),
    onSuccess: async (kb) => {
      await refresh();
      onChanged(kb);
    },
  });
}
