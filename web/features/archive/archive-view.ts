/** What the address of the archive holds, and what the server is asked by it. */
import type { ArchivedQuery } from "@/lib/api";
import { endOfDay, startOfDay } from "@/lib/days";
import { day, defineView, flag, identifier, integer, oneOf, oneOfNumbers, PAGE_SIZES, text } from "@/lib/url-state";

export const SORTS = ["-archived_at", "archived_at", "-name", "name", "-completed_at", "completed_at", "-file_size", "file_size"] as const;
export type ArchiveSort = (typeof SORTS)[number];

export const archiveView = defineView({
  q: text(),
  kb: identifier(),
  from: day(),
  to: day(),
  sort: oneOf(SORTS, "-archived_at"),
  page: integer(1),
  limit: oneOfNumbers(PAGE_SIZES, 20),
  /** The list of receipts instead of the documents. */
  receipts: flag(),
  /** The receipt that lies open. */
  receipt: identifier(),
});

export type ArchiveState = typeof archiveView.initial;

/** The days are the reader's, both included. */
export function archivedQuery({ q, kb, from, to, sort, page, limit }: ArchiveState): ArchivedQuery {
  return {
    sort,
    page,
    limit,
    ...(q ? { search: q } : {}),
    ...(kb ? { kb_id: kb } : {}),
    ...(from ? { archived_from: startOfDay(from) } : {}),
    ...(to ? { archived_to: endOfDay(to) } : {}),
  };
}

export const isFiltered = ({ q, kb, from, to }: ArchiveState): boolean => [q, kb, from, to].some((value) => value !== "");

export const NO_FILTERS = { q: "", kb: "", from: "", to: "" } as const;
