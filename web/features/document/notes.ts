/**
 * Notes of people, inside of what the server calls annotations: any JSON object beside a place. Ours is the key `note`, with
 * who wrote it last and when; whatever else stands there belongs to a program and is kept as it is.
 */
import type { Notes } from "@/lib/api";

export type NotePlace = { kind: "page"; page: number } | { kind: "paragraph"; page: number; index: number } | { kind: "diagram"; page: number; key: string };

export interface Note {
  /** In the order of the document, from 1: what its pin says. */
  number: number;
  place: NotePlace;
  /** Null where only a program wrote something. */
  text: string | null;
  by: string | null;
  at: string | null;
  /** All of it, to be written back. */
  annotations: Record<string, unknown>;
  isStale: boolean;
}

type Unnumbered = Omit<Note, "number">;

export function noteOf(place: NotePlace, annotations: Record<string, unknown> | null, staleAt: string | null): Unnumbered | null {
  if (!annotations || Object.keys(annotations).length === 0) return null;
  const { note, by, at } = annotations;
  const text = typeof note === "string" && note.trim() ? note : null;
  return {
    place,
    text,
    by: typeof by === "string" ? by : null,
    at: typeof at === "string" && !Number.isNaN(Date.parse(at)) ? at : null,
    annotations,
    isStale: staleAt !== null,
  };
}

/** What to write back. An empty text takes the note away; with nothing else there, all of it. */
export function withNote(annotations: Record<string, unknown> | null, text: string, by: string, at: Date): Notes {
  const { note: _, by: __, at: ___, ...others } = annotations ?? {};
  const written = text.trim();
  if (written) return { ...others, note: written, by, at: at.toISOString() };
  return Object.keys(others).length > 0 ? others : null;
}

export const keyOf = (place: NotePlace): string => {
  const rest = place.kind === "page" ? "" : place.kind === "paragraph" ? String(place.index) : place.key;
  return `${place.page}/${place.kind}/${rest}`;
};

const KINDS: readonly NotePlace["kind"][] = ["page", "paragraph", "diagram"];

/** By page, the page's own first, then as they stand on it; what lost its place at the end. */
export function numbered(notes: readonly Unnumbered[]): Note[] {
  const unique = [...new Map(notes.map((note) => [keyOf(note.place), note])).values()];
  const order = (one: Unnumbered, other: Unnumbered) =>
    Number(one.isStale) - Number(other.isStale) ||
    one.place.page - other.place.page ||
    KINDS.indexOf(one.place.kind) - KINDS.indexOf(other.place.kind) ||
    within(one.place) - within(other.place);
  return unique.toSorted(order).map((note, index) => ({ ...note, number: index + 1 }));
}

const within = (place: NotePlace): number => (place.kind === "paragraph" ? place.index : 0);
