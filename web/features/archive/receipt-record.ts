/** What a receipt says, read from the record that was signed. A newer one may say more; what is not understood is left out. */
import { isRecord } from "@/lib/api/answers";
import type { Receipt } from "@/lib/api";

export interface StoreLine {
  store: string;
  before: number;
  /** What the second look found there. */
  after: number;
}

export interface ReceiptFacts {
  move: string;
  documentId: string;
  documentName: string;
  by: string;
  at: string;
  stores: readonly StoreLine[];
  kept: readonly { store: string; reason: string; url: string | null }[];
  seq: number | null;
  keyId: string;
  signature: string;
}

export function factsOf({ record, signature }: Receipt): ReceiptFacts {
  const document = part(record, "document");
  const look = part(record, "second_look");
  const audit = part(record, "audit");
  return {
    move: text(record.move),
    documentId: text(document.id),
    documentName: text(document.name),
    by: text(record.by),
    at: text(record.at),
    stores: storesOf(part(look, "looked_for"), part(look, "left")),
    kept: list(record.kept).map((item) => ({ store: text(item.store), reason: text(item.reason), url: webAddress(item.url) })),
    seq: typeof audit.seq === "number" ? audit.seq : null,
    keyId: text(record.key_id),
    signature,
  };
}

/** What people know first; a record keeps no order of its own. */
const ORDER = ["rows", "blobs", "artifacts", "index", "jobs", "queue"];

/** A store that held nothing and holds nothing says nothing; one that we do not know comes last. */
function storesOf(before: Record<string, unknown>, after: Record<string, unknown>): StoreLine[] {
  const stores = [...new Set([...ORDER, ...Object.keys(before), ...Object.keys(after)])];
  return stores.map((store) => ({ store, before: count(before[store]), after: count(after[store]) })).filter((line) => line.before > 0 || line.after > 0);
}

/** `7d1e40c9…`, in groups of four. */
export function grouped(bytesInBase64: string): [start: string, end: string] {
  const hex = [...atob(bytesInBase64)].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  return [`${hex.slice(0, 4)} ${hex.slice(4, 8)}`, hex.slice(-4)];
}

const part = (record: Record<string, unknown>, name: string): Record<string, unknown> => (isRecord(record[name]) ? record[name] : {});
const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const count = (value: unknown): number => (typeof value === "number" ? value : 0);
const webAddress = (value: unknown): string | null => (typeof value === "string" && /^https?:\/\//i.test(value) ? value : null);
