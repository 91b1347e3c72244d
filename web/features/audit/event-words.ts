/** An event in words: a verb, and what it was done to. Payloads are open; what is not understood shows as it is. */
import { isRecord } from "@/lib/api/answers";
import type { AuditEvent } from "@/lib/api";
import { formatSize } from "@/lib/format";
import { audit as t } from "@/text";

/** `Purged`; an action that this page does not know yet is read as it is written. */
export const verbOf = (action: string): string => t.verbs[action] ?? sentenceCase(action.replaceAll("_", " "));

const sentenceCase = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** The name of what it was done to; empty where the verb says it all. */
export function objectOf({ payload }: Pick<AuditEvent, "payload">, nameOf: (id: string) => string): string {
  const { old_name: before, new_name: after } = payload;
  if (typeof before === "string" && typeof after === "string") return before === after ? after : `${before} → ${after}`;
  for (const name of ["doc_name", "email"]) {
    if (typeof payload[name] === "string") return payload[name];
  }
  if (typeof payload.job_id === "string") return jobOf(payload.job_id);
  const person = typeof payload.user_id === "string" ? nameOf(payload.user_id) : "";
  const name = typeof payload.name === "string" ? payload.name : "";
  if (name && person) return `${person} · ${name}`;
  if (typeof payload.before === "string" && typeof payload.after === "string") return `${payload.before} → ${payload.after}`;
  return name || person;
}

/** `org/…/invoice/19277ef1….pdf`, of which a person compares type and hash. */
function jobOf(key: string): string {
  const [, type, hash] = /([^/]+)\/([0-9a-f]{64})\.pdf$/.exec(key) ?? [];
  return type && hash ? `${type} ${hash.slice(0, 8)}…${hash.slice(-4)}` : key;
}

export interface Fact {
  label: string;
  value: string;
  isProof: boolean;
}

/** What the columns of the log say already. */
const ELSEWHERE = new Set(["kb_id", "doc_id", "knowledge_base_id"]);
/** Evidence, not words: ids, hashes, keys. */
const PROOF = /(^id$|_id$|_ids$|sha256|job_id|token|key)/;

/** The payload as lines, for the details. */
export function payloadFacts(payload: Record<string, unknown>, nameOf: (id: string) => string): Fact[] {
  return Object.entries(payload)
    .filter(([name, value]) => !ELSEWHERE.has(name) && value !== null && value !== "")
    .map(([name, value]) => {
      const isPerson = name === "user_id" || name === "uploader";
      return {
        label: t.fields[name] ?? sentenceCase(name.replaceAll("_", " ")),
        value: isPerson && typeof value === "string" ? nameOf(value) : wordsOf(name, value),
        isProof: !isPerson && PROOF.test(name),
      };
    });
}

function wordsOf(name: string, value: unknown): string {
  if (typeof value === "boolean") return value ? t.yes : t.no;
  if (typeof value === "number") return name.endsWith("_size") ? formatSize(value) : String(value);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((item) => wordsOf("", item)).join(", ");
  if (isRecord(value)) {
    return Object.entries(value)
      .map(([key, inner]) => `${t.fields[key] ?? key}: ${wordsOf(key, inner)}`)
      .join(", ");
  }
  return String(value);
}
