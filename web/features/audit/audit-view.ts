/** What the address of the audit log holds, and what the server is asked by it. */
import type { AuditQuery } from "@/lib/api";
import { afterDay, startOfDay } from "@/lib/days";
import { day, defineView, flag, identifier, integer, text } from "@/lib/url-state";

const LIMIT = 50;

export const auditView = defineView({
  installation: flag(),
  action: text(),
  /** A person's id, or `system`. */
  actor: text(),
  kb: identifier(),
  document: identifier(),
  from: day(),
  to: day(),
  page: integer(1),
});

export type AuditState = typeof auditView.initial;

/** The same filters for the list and for the export. The days are the reader's, both included. */
export function auditFilters({ installation, action, actor, kb, document, from, to }: AuditState): Omit<AuditQuery, "page" | "limit"> {
  return {
    ...(installation ? { installation } : {}),
    ...(action ? { action } : {}),
    ...(actor ? { actor } : {}),
    ...(kb ? { kb_id: kb } : {}),
    ...(document ? { document_id: document } : {}),
    ...(from ? { from: startOfDay(from) } : {}),
    ...(to ? { to: afterDay(to) } : {}),
  };
}

export const auditQuery = (state: AuditState): AuditQuery => ({ ...auditFilters(state), page: state.page, limit: LIMIT });

export const NO_FILTERS = { action: "", actor: "", kb: "", document: "", from: "", to: "" } as const;

export const isFiltered = (state: AuditState): boolean => Object.keys(NO_FILTERS).some((name) => state[name as keyof typeof NO_FILTERS] !== "");
