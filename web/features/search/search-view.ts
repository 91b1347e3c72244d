/** What the address says of a search, and what is asked of the API for it. */
import type { DocumentType, FileFormat, SearchQuery } from "@/lib/api";
import { endOfDay, startOfDay } from "@/lib/days";
import { day, defineView, identifier, identifiers, manyOf, oneOf, text } from "@/lib/url-state";

export const TYPES: readonly DocumentType[] = ["invoice", "contract", "care_plan", "incident_report", "onboarding", "other"];
export const FORMATS: readonly FileFormat[] = ["pdf", "office", "image", "text", "mail"];
export const MODES = ["hybrid", "text", "vector"] as const;
export const SORTS = ["relevance", "date"] as const;

/** The most that the API gives out at once. */
export const MOST_HITS = 50;

export const searchView = defineView({
  q: text(),
  kb: identifiers(),
  type: manyOf(TYPES),
  from: day(),
  to: day(),
  by: identifiers(),
  format: manyOf(FORMATS),
  mode: oneOf(MODES, "hybrid"),
  sort: oneOf(SORTS, "relevance"),
  /** The saved search that was opened; other users see the same results. */
  saved: identifier(),
});

export type SearchState = typeof searchView.initial;

/** Null while there is nothing to look for. */
export function queryOf({ q, kb, type, from, to, by, format, mode, sort }: SearchState): SearchQuery | null {
  const asked = q.trim();
  if (asked === "") return null;
  return {
    q: asked,
    mode,
    sort,
    limit: MOST_HITS,
    ...(kb.length > 0 ? { kb_id: [...kb] } : {}),
    ...(type.length > 0 ? { document_type: [...type] } : {}),
    ...(from ? { added_from: startOfDay(from) } : {}),
    ...(to ? { added_to: endOfDay(to) } : {}),
    ...(by.length > 0 ? { uploaded_by: [...by] } : {}),
    ...(format.length > 0 ? { format: [...format] } : {}),
  };
}

export const WITHOUT_FILTERS = { kb: [], type: [], from: "", to: "", by: [], format: [] } as const satisfies Partial<SearchState>;

export type Filter = "kb" | "type" | "added" | "by" | "format";

/** The filters in force, in the order in which they stand. */
export function filtersOf({ kb, type, from, to, by, format }: SearchState): readonly Filter[] {
  const isOn: Record<Filter, boolean> = {
    kb: kb.length > 0,
    type: type.length > 0,
    added: from !== "" || to !== "",
    by: by.length > 0,
    format: format.length > 0,
  };
  return (Object.keys(isOn) as Filter[]).filter((filter) => isOn[filter]);
}
