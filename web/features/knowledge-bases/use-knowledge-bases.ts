"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { getKnowledgeBase, keys, listKnowledgeBases } from "@/lib/api";

const MOST = { limit: 100 };

/** All that the person may see, up to a hundred; for the sidebar, pickers and rights. */
export function useKnowledgeBases() {
  return useQuery({
    queryKey: keys.knowledgeBases(MOST),
    queryFn: ({ signal }) => listKnowledgeBases(MOST, signal),
    placeholderData: keepPreviousData,
  });
}

export function useKnowledgeBase(kbId: string) {
  return useQuery({ queryKey: keys.knowledgeBase(kbId), queryFn: ({ signal }) => getKnowledgeBase(kbId, signal), enabled: kbId !== "" });
}
