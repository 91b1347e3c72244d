import type { Document } from "@/lib/api";

/** The question that is open. There is one at a time. */
export type Asked =
  | { kind: "archive" | "clear" | "cancel" | "explain" | "bringBack" | "failedReplacement"; document: Document }
  | { kind: "replace"; document: Document; file: File }
  | { kind: "archiveSeveral"; documents: readonly Document[] };

export type AskedKind = Asked["kind"];
