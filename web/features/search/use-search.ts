"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { keys, search } from "@/lib/api";

import { queryOf, type SearchState } from "./search-view";

/** The passages; the old ones stay while newer ones are on their way. */
export function useSearch(state: SearchState) {
  const query = queryOf(state);
  return useQuery({
    queryKey: keys.search(query ?? {}),
    queryFn: ({ signal }) => search(query ?? { q: "" }, signal),
    enabled: query !== null,
    placeholderData: query === null ? undefined : keepPreviousData,
    staleTime: 30_000,
  });
}
