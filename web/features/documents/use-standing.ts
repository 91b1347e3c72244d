"use client";

import { useQuery } from "@tanstack/react-query";

import { explainDocument, keys, type Document, type Status } from "@/lib/api";
import type { Progress } from "@/lib/live";
import { useProgress } from "@/lib/use-live";

import { mayHaveOldOne } from "./menu-plan";

/** Where a document stands: the stream is a second ahead of the list. */
export function useStanding(document: Document): { status: Status; progress: Progress | undefined } {
  const progress = useProgress(document.id);
  const isAtWork = progress?.status === "pending" || progress?.status === "processing";
  return { status: isAtWork ? progress.status : document.status, progress };
}

export const explanationOf = (document: Pick<Document, "id" | "kb_id">) => ({
  queryKey: keys.document(document.id, "explain"),
  queryFn: ({ signal }: { signal: AbortSignal }) => explainDocument({ kbId: document.kb_id, documentId: document.id }, signal),
});

/** Whether the file before a failed one can be brought back. Asked only where it may be so. */
export function useCanRevert(document: Document, mayManage: boolean): boolean {
  const { data } = useQuery({ ...explanationOf(document), enabled: mayManage && mayHaveOldOne(document) });
  return data?.moves.some(({ move, allowed }) => move === "revert" && allowed) ?? false;
}
