/** What happened to a document, newest first: lines of the audit trail where one may read it, and every reading of it. */
import type { AuditEvent, Document, Run, Status } from "@/lib/api";
import { formatCount, formatDuration } from "@/lib/format";
import { document as text } from "@/text";

const t = text.history;

export type Tone = Status | "change";

export interface Entry {
  id: string;
  at: string;
  tone: Tone;
  verb: string;
  rest: string;
  /** The id of a person or `system`; null where nobody is told. */
  actor: string | null;
  seal: { seq: number | null } | null;
}

type Payload = Record<string, unknown>;
type Line = Pick<Entry, "verb" | "tone"> & { rest?: (payload: Payload) => string };

const LINES: Readonly<Record<string, Line>> = {
  document_uploaded: { verb: t.verbs.uploaded, tone: "pending" },
  document_replaced: { verb: t.verbs.replaced, tone: "change", rest: (payload) => changedName(payload, t.wasCalled) },
  document_reverted: { verb: t.verbs.reverted, tone: "change", rest: (payload) => t.isCalled(String(payload.new_name ?? "")) },
  failed_replacement_deleted: { verb: t.verbs.replacementDeleted, tone: "change" },
  document_archived: { verb: t.verbs.archived, tone: "archived" },
  document_restored: { verb: t.verbs.restored, tone: "completed" },
  document_cancelled: { verb: t.verbs.cancelled, tone: "failed" },
  document_retried: { verb: t.verbs.retried, tone: "pending" },
  document_annotated: { verb: t.verbs.annotated, tone: "change", rest: onPage },
  document_handed_over: { verb: t.verbs.handedOver, tone: "change" },
  document_archive_confirmed: { verb: t.verbs.confirmed, tone: "completed", rest: asNumber },
  document_archive_failed: { verb: t.verbs.handOverFailed, tone: "failed" },
  document_hand_over_skipped: { verb: t.verbs.handOverSkipped, tone: "change", rest: () => t.colon(t.onlyPdf) },
  document_hand_over_cancelled: { verb: t.verbs.handOverCancelled, tone: "change" },
};

function changedName(payload: Payload, say: (name: string) => string): string {
  return payload.old_name && payload.old_name !== payload.new_name ? say(String(payload.old_name)) : "";
}

function onPage({ place }: Payload): string {
  const page = typeof place === "object" && place !== null && "page_number" in place ? place.page_number : null;
  return typeof page === "number" ? t.onPage(formatCount(page)) : "";
}

function asNumber({ paperless_doc_id: id }: Payload): string {
  return typeof id === "number" ? t.asNumber(String(id)) : t.toPaperless;
}

export function timelineOf(document: Document, runs: readonly Run[], events: readonly AuditEvent[] | null): Entry[] {
  const told = events ? events.map(entryOfEvent) : factsOf(document);
  return [...told, ...runs.flatMap(entryOfRun)].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

function entryOfEvent(event: AuditEvent): Entry {
  const line = LINES[event.action] ?? { verb: spoken(event.action), tone: "change" as const };
  const rest = line.rest?.(event.payload) ?? "";
  return { id: event.id, at: event.at, tone: line.tone, verb: line.verb, rest, actor: event.actor, seal: { seq: event.seq } };
}

/** `document_something_new`, before this page knows it: Something new. */
function spoken(action: string): string {
  const words = action.replace(/^document_/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** For who may not read the trail: what the document itself tells everybody. */
function factsOf(document: Document): Entry[] {
  const entry = (verb: string, at: string | null, tone: Tone, actor: string | null = null): Entry[] =>
    at ? [{ id: verb, at, tone, verb, rest: "", actor, seal: null }] : [];
  return [
    ...entry(t.verbs.uploaded, document.created_at, "pending", document.uploaded_by),
    ...entry(t.verbs.archived, document.archived_at, "archived"),
    ...(document.archive_status === "archived" ? entry(t.verbs.confirmed, document.handed_over_at, "completed") : []),
  ];
}

function entryOfRun(run: Run): Entry[] {
  if (!run.ended_at) return [];
  const isFirst = run.purpose === "first";
  const seconds = (Date.parse(run.ended_at) - Date.parse(run.created_at)) / 1000;
  const common = { id: run.id, at: run.ended_at, actor: null, seal: null };
  if (run.status === "failed") {
    const rest = run.error ? t.colon(run.error.message) : "";
    return [{ ...common, tone: "failed", verb: isFirst ? t.verbs.failed : t.verbs.rereadFailed, rest }];
  }
  return [{ ...common, tone: "completed", verb: isFirst ? t.verbs.completed : t.verbs.reread, rest: seconds >= 1 ? t.inTime(formatDuration(seconds)) : "" }];
}

/** How many of the lines of the trail have their seal. */
export function sealsOf(entries: readonly Entry[]): { lines: number; sealed: number } {
  const seals = entries.flatMap((entry) => entry.seal ?? []);
  return { lines: seals.length, sealed: seals.filter((seal) => seal.seq !== null).length };
}
