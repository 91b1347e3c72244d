"use client";

import { useQuery } from "@tanstack/react-query";

import { getPage, listDiagrams, listParagraphs, type Diagram, type DocumentPage, type DocumentPlace, type Paragraph } from "@/lib/api";
import { everyPage } from "@/lib/every-page";

import { keyOfPart } from "./use-document";

// A page changes only when the document is read anew, and the event stream tells of that.
const LONG_MS = 10 * 60_000;

/** Text and layout of a page; nothing is asked while `isWanted` is false. */
export function usePage(place: DocumentPlace, number: number, isWanted = true) {
  return useQuery<DocumentPage>({
    queryKey: keyOfPart(place, "page", { number }),
    queryFn: ({ signal }) => getPage(place, number, signal),
    enabled: isWanted,
    staleTime: LONG_MS,
  });
}

export interface PageParts {
  paragraphs: readonly Paragraph[];
  diagrams: readonly Diagram[];
}

export const keyOfParts = (place: DocumentPlace, number: number) => keyOfPart(place, "parts", { number });

export async function getParts(place: DocumentPlace, number: number, signal?: AbortSignal): Promise<PageParts> {
  const [paragraphs, diagrams] = await Promise.all([
    everyPage((page, limit) => listParagraphs(place, { page_number: number, page, limit }, signal)),
    everyPage((page, limit) => listDiagrams(place, { page_number: number, page, limit }, signal)),
  ]);
  return { paragraphs, diagrams: diagrams.filter((diagram) => diagram.stale_at === null) };
}

/** Paragraphs in reading order and diagrams of a page, with the notes on them. */
export function useParts(place: DocumentPlace, number: number, isWanted = true) {
  return useQuery({
    queryKey: keyOfParts(place, number),
    queryFn: ({ signal }) => getParts(place, number, signal),
    enabled: isWanted,
    staleTime: LONG_MS,
  });
}
