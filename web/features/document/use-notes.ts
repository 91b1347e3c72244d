"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";

import { usePerson } from "@/features/session/signed-in";
import { annotateDiagram, annotatePage, annotateParagraph, listDiagrams, listPages, listParagraphs, type DocumentPlace, type PageNotes } from "@/lib/api";
import { everyPage } from "@/lib/every-page";

import { keyOf, noteOf, numbered, withNote, type Note, type NotePlace } from "./notes";
import { keyOfPart } from "./use-document";
import { getParts, keyOfParts } from "./use-page";

/** Of a longer document the notes are looked up when somebody asks for them, not with every opening. */
export const MOST_AT_ONCE = 300;
const AT_A_TIME = 4;

/** Every note of the document, in its order. */
export function useNotes(place: DocumentPlace, isWanted: boolean) {
  const found = useQuery({
    queryKey: keyOfPart(place, "notes"),
    queryFn: ({ signal }) => findNotes(place, signal),
    enabled: isWanted,
    staleTime: 60_000,
  });
  const byPlace = useMemo(() => new Map((found.data ?? []).map((note) => [keyOf(note.place), note])), [found.data]);
  return { ...found, byPlace };
}

async function findNotes(place: DocumentPlace, signal: AbortSignal): Promise<Note[]> {
  const gone: PageNotes[] = [];
  const pages = await everyPage(async (page, limit) => {
    const answer = await listPages(place, { page, limit }, signal);
    gone.push(...answer.stale);
    return answer;
  });
  const annotated = pages.filter((page) => page.has_annotations);
  const parts = await inTurns(annotated, async ({ page_number: number }) => partNotes(place, number, signal));
  const stale = await staleNotes(place, signal);
  const own = [...annotated, ...gone].map((page) => noteOf({ kind: "page", page: page.page_number }, page.annotations, page.stale_at));
  return numbered([...own, ...parts.flat(), ...stale].flatMap((note) => note ?? []));
}

async function partNotes(place: DocumentPlace, number: number, signal: AbortSignal) {
  const { paragraphs, diagrams } = await getParts(place, number, signal);
  return [
    ...paragraphs.map((one) => noteOf({ kind: "paragraph", page: number, index: one.paragraph_index }, one.annotations, one.stale_at)),
    ...diagrams.map((one) => noteOf({ kind: "diagram", page: number, key: one.key }, one.annotations, one.stale_at)),
  ];
}

/** What was written at places that are gone. */
async function staleNotes(place: DocumentPlace, signal: AbortSignal) {
  const [{ stale }, diagrams] = await Promise.all([listParagraphs(place, { limit: 100 }, signal), listDiagrams(place, { limit: 100 }, signal)]);
  return [
    ...stale.map((one) => noteOf({ kind: "paragraph", page: one.page_number, index: one.paragraph_index }, one.annotations, one.stale_at)),
    ...diagrams.items
      .filter((one) => one.stale_at)
      .map((one) => noteOf({ kind: "diagram", page: one.page_number, key: one.key }, one.annotations, one.stale_at)),
  ];
}

async function inTurns<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_A_TIME) results.push(...(await Promise.all(items.slice(at, at + AT_A_TIME).map(work))));
  return results;
}

export interface Written {
  at: NotePlace;
  /** What stands there now. */
  annotations: Record<string, unknown> | null;
  text: string;
}

/** Writes a note, or takes it away with an empty text; every place that shows it follows. */
export function useWriteNote(place: DocumentPlace) {
  const me = usePerson();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ at, annotations, text }: Written) => write(place, at, withNote(annotations, text, me.email, new Date())),
    onSuccess: (_, { at }) =>
      Promise.all([
        client.invalidateQueries({ queryKey: keyOfParts(place, at.page) }),
        client.invalidateQueries({ queryKey: keyOfPart(place, "page", { number: at.page }) }),
        client.invalidateQueries({ queryKey: keyOfPart(place, "notes") }),
        client.invalidateQueries({ queryKey: keyOfPart(place, "events") }),
      ]),
  });
}

async function write(place: DocumentPlace, at: NotePlace, annotations: Record<string, unknown> | null): Promise<void> {
  if (at.kind === "page") await annotatePage(place, at.page, { annotations });
  else if (at.kind === "paragraph") await annotateParagraph(place, at.page, at.index, annotations);
  else await annotateDiagram(place, at.key, annotations);
}
