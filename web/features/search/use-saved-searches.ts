"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { changeSavedSearch, deleteSavedSearch, keys, listSavedSearches, saveSearch, type SavedCriteria } from "@/lib/api";

export function useSavedSearches() {
  return useQuery({ queryKey: keys.savedSearches, queryFn: ({ signal }) => listSavedSearches(signal), staleTime: 60_000 });
}

export interface SavedSearchChange {
  id: string;
  name?: string;
  parameters?: SavedCriteria;
}

export function useSavedSearchChanges() {
  const client = useQueryClient();
  // Also after a refusal: what is shown is not what is there.
  const onSettled = () => client.invalidateQueries({ queryKey: keys.savedSearches });
  return {
    save: useMutation({ mutationFn: ({ name, parameters }: { name: string; parameters: SavedCriteria }) => saveSearch(name, parameters), onSettled }),
    alter: useMutation({ mutationFn: ({ id, ...change }: SavedSearchChange) => changeSavedSearch(id, change), onSettled }),
    remove: useMutation({ mutationFn: deleteSavedSearch, onSettled }),
  };
}
