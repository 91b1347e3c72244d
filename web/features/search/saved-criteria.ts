/**
 * Between the address of a search and what the API saves of it. Days are saved as days, so that a saved search names the
 * same days wherever it is opened.
 */
import type { SavedCriteria, SavedSearch } from "@/lib/api";
import { dayOf } from "@/lib/days";

import { searchView, type SearchState } from "./search-view";

/** What is saved, or null while nothing is looked for. */
export function criteriaOf({ q, kb, type, from, to, by, format, mode, sort }: SearchState): SavedCriteria | null {
  const asked = q.trim();
  if (asked === "") return null;
  return {
    q: asked,
    mode,
    sort,
    ...(kb.length > 0 ? { kb_id: [...kb].sort() } : {}),
    ...(type.length > 0 ? { document_type: [...type] } : {}),
    ...(from ? { added_from: from } : {}),
    ...(to ? { added_to: to } : {}),
    ...(by.length > 0 ? { uploaded_by: [...by].sort() } : {}),
    ...(format.length > 0 ? { format: [...format] } : {}),
  };
}

const NAMES: Readonly<Record<string, keyof SearchState>> = {
  q: "q",
  kb_id: "kb",
  document_type: "type",
  added_from: "from",
  added_to: "to",
  uploaded_by: "by",
  format: "format",
  mode: "mode",
  sort: "sort",
};

/** The page's view of a saved search, read as carefully as an address: another client may have saved it. */
export function stateOf({ id, parameters }: Pick<SavedSearch, "id" | "parameters">): SearchState {
  const address = new URLSearchParams({ saved: id });
  for (const [parameter, name] of Object.entries(NAMES)) {
    const given: unknown = parameters[parameter];
    for (const value of Array.isArray(given) ? given : [given]) {
      if (typeof value === "string") address.append(name, name === "from" || name === "to" ? dayWithin(value) : value);
    }
  }
  return searchView.parse(address);
}

export function isSameSearch(a: SearchState, b: SearchState): boolean {
  return JSON.stringify(criteriaOf(a)) === JSON.stringify(criteriaOf(b));
}

/** A day as it is; of a time the day in the reader's zone. */
function dayWithin(value: string): string {
  if (!value.includes("T")) return value;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? "" : dayOf(time);
}
