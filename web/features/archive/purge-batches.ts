/** Many documents as calls that the server takes: one knowledge base each, a hundred at most. */
import type { ArchivedDocument } from "@/lib/api";

export const MOST_AT_ONCE = 100;

export interface Batch {
  kbId: string;
  documents: readonly ArchivedDocument[];
}

export function batchesOf(documents: readonly ArchivedDocument[], most = MOST_AT_ONCE): Batch[] {
  const kbIds = [...new Set(documents.map((document) => document.kb_id))];
  return kbIds.flatMap((kbId) => {
    const all = documents.filter((document) => document.kb_id === kbId);
    return Array.from({ length: Math.ceil(all.length / most) }, (_, index) => ({ kbId, documents: all.slice(index * most, (index + 1) * most) }));
  });
}
