"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { keys, listDocuments } from "@/lib/api";
import type { Change } from "@/lib/url-state";

import { pageInstead, queryOf, type DocumentsState } from "./documents-view";

/** The rows of this view; those of the view before while it is on its way. */
export function useDocuments(state: DocumentsState, change: Change<DocumentsState>) {
  const query = queryOf(state);
  const answer = useQuery({
    queryKey: keys.documents(state.id, query),
    queryFn: ({ signal }) => listDocuments(state.id, query, signal),
    // Not those of another knowledge base: they would be somebody else's for a moment.
    placeholderData: (before, asked) => (asked?.queryKey[1] === state.id ? keepPreviousData(before) : undefined),
    enabled: state.id !== "",
  });
  const { data, isPlaceholderData } = answer;
  const instead = data && !isPlaceholderData ? pageInstead(state, data) : null;
  useEffect(() => {
    if (instead !== null) change({ page: instead }, { replace: true });
  }, [instead, change]);
  return answer;
}
