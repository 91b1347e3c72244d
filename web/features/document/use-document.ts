"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";

import { getDocument, keys, listRuns, NotFound, searchInside, type DocumentPlace } from "@/lib/api";
import { useLiveEvents } from "@/lib/use-live";

/** All that is known of a document lies below one name, so that the event stream renews it in one go. */
export const keyOfPart = (place: DocumentPlace, part: string, query?: object) => keys.document(place.documentId, part, { kb: place.kbId, ...query });

export function useDocument(place: DocumentPlace) {
  return useQuery({
    queryKey: keyOfPart(place, "itself"),
    queryFn: ({ signal }) => getDocument(place, signal),
    enabled: place.kbId !== "" && place.documentId !== "",
  });
}

/**
 * Fetches the document again whenever changes may have been missed: while there is no stream, and when a stream begins.
 * A snapshot lists unfinished documents only, so one that finished just before it would be shown as processing for ever.
 */
export function useLookAgain(place: DocumentPlace): void {
  const client = useQueryClient();
  useLiveEvents((event) => {
    if (event.type === "look" || event.type === "snapshot") void client.invalidateQueries({ queryKey: keyOfPart(place, "itself") });
  });
}

const RUNS = { limit: 10 };

export function useRuns(place: DocumentPlace) {
  return useQuery({ queryKey: keyOfPart(place, "runs"), queryFn: ({ signal }) => listRuns(place, RUNS, signal) });
}

/** The pages that hold what is looked for; the old answer stays while the next is on its way. */
export function useFound(place: DocumentPlace, find: string) {
  const q = find.trim();
  return useQuery({
    queryKey: keyOfPart(place, "found", { q }),
    queryFn: ({ signal }) => searchInside(place, q, 500, signal),
    enabled: q !== "",
    placeholderData: q === "" ? undefined : keepPreviousData,
  });
}

export const isNotFound = (error: unknown): boolean => error instanceof NotFound;
