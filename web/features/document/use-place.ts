"use client";

import { useQuery } from "@tanstack/react-query";

import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { getDocument, keys, NotFound, type DocumentPlace } from "@/lib/api";

const AT_A_TIME = 6;

/** An address without its knowledge base, by hand or from an old mail: it is looked for in all that the person may see. */
export function usePlace(kbId: string, documentId: string): { place: DocumentPlace | null; isNowhere: boolean; error: unknown } {
  const bases = useKnowledgeBases();
  const isMissing = kbId === "" && documentId !== "";
  const found = useQuery({
    queryKey: keys.document(documentId, "place"),
    queryFn: ({ signal }) => findKb(bases.data?.items.map((kb) => kb.id) ?? [], documentId, signal),
    enabled: isMissing && bases.data !== undefined,
    staleTime: Infinity,
  });
  if (!isMissing) return { place: documentId ? { kbId, documentId } : null, isNowhere: documentId === "", error: null };
  const place = found.data ? { kbId: found.data, documentId } : null;
  return { place, isNowhere: found.data === null, error: found.error ?? bases.error };
}

async function findKb(kbIds: readonly string[], documentId: string, signal: AbortSignal): Promise<string | null> {
  for (let at = 0; at < kbIds.length; at += AT_A_TIME) {
    const asked = kbIds.slice(at, at + AT_A_TIME).map(async (kbId) => {
      try {
        await getDocument({ kbId, documentId }, signal);
        return kbId;
      } catch (error) {
        if (error instanceof NotFound) return null;
        throw error;
      }
    });
    const found = (await Promise.all(asked)).find((kbId) => kbId !== null);
    if (found) return found;
  }
  return null;
}
