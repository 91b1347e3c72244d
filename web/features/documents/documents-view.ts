/** What the address of `/kb` says: which knowledge base, which of its documents, in which order. */
import type { DocumentQuery, DocumentType, Status } from "@/lib/api";
import { defineView, integer, oneOf, oneOfNumbers, PAGE_SIZES, text } from "@/lib/url-state";

/** The archive has a page of its own. */
export const STATUS_TABS = ["all", "completed", "processing", "pending", "failed"] as const satisfies readonly ("all" | Status)[];
export const TYPES = ["any", "invoice", "contract", "care_plan", "incident_report", "onboarding", "other"] as const satisfies readonly ("any" | DocumentType)[];
export const SORTS = [
  "name",
  "-name",
  "document_type",
  "-document_type",
  "status",
  "-status",
  "file_size",
  "-file_size",
  "created_at",
  "-created_at",
] as const satisfies readonly NonNullable<DocumentQuery["sort"]>[];

export type Sort = (typeof SORTS)[number];
/** As much as the server takes. */
export const LONGEST_FILTER = 255;

export const documentsView = defineView({
  id: text(),
  status: oneOf(STATUS_TABS, "all"),
  type: oneOf(TYPES, "any"),
  q: text(),
  sort: oneOf(SORTS, "-created_at"),
  page: integer(1),
  limit: oneOfNumbers(PAGE_SIZES, 20),
});

export type DocumentsState = typeof documentsView.initial;

export function queryOf({ status, type, q, sort, page, limit }: DocumentsState): DocumentQuery {
  return {
    sort,
    page,
    limit,
    ...(status === "all" ? {} : { status: [status] }),
    ...(type === "any" ? {} : { document_type: [type] }),
    // A pasted line break or NUL is no name, and the server would refuse the whole question.
    ...(cleanFilter(q) ? { search: cleanFilter(q) } : {}),
  };
}

export const cleanFilter = (q: string): string => q.replaceAll("\0", "").trim().slice(0, LONGEST_FILTER);

export const hasFilters = ({ status, type, q }: DocumentsState): boolean => status !== "all" || type !== "any" || cleanFilter(q) !== "";

export const WITHOUT_FILTERS: Partial<DocumentsState> = { status: "all", type: "any", q: "" };

/** The page that is there when the asked one is not: the last. Null where all is well. */
export function pageInstead({ page, limit }: DocumentsState, answer: { items: readonly unknown[]; total: number }): number | null {
  if (page === 1 || answer.items.length > 0) return null;
  return Math.max(1, Math.ceil(answer.total / limit));
}
