import type { DocumentType, SearchQuery } from "@/lib/api";
import { defineView, manyOf, oneOf, several, text } from "@/lib/url-state";

export const TYPES: readonly DocumentType[] = ["invoice", "contract", "care_plan", "incident_report", "onboarding", "other"];
export const MODES = ["hybrid", "text", "vector"] as const;

/** The most that the API gives out at once. */
export const MOST_HITS = 50;

export const searchView = defineView({ q: text(), kb: several(), type: manyOf(TYPES), mode: oneOf(MODES, "hybrid") });

export type SearchState = typeof searchView.initial;

/** Null while there is nothing to look for. */
export function queryOf({ q, kb, type, mode }: SearchState): SearchQuery | null {
  const asked = q.trim();
  if (asked === "") return null;
  return { q: asked, mode, limit: MOST_HITS, ...(kb.length > 0 ? { kb_id: [...kb] } : {}), ...(type.length > 0 ? { document_type: [...type] } : {}) };
}

export const isFiltered = ({ kb, type }: SearchState): boolean => kb.length > 0 || type.length > 0;
