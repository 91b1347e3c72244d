"use client";

import { useQuery } from "@tanstack/react-query";

import { findDocuments, keys, type DocumentPlace } from "@/lib/api";

/** An address without its knowledge base, by hand or from an old mail: the server knows where the document belongs. */
export function usePlace(kbId: string, documentId: string): { place: DocumentPlace | null; isNowhere: boolean; error: unknown } {
  const isMissing = kbId === "" && documentId !== "";
  const found = useQuery({
    queryKey: keys.document(documentId, "place"),
    queryFn: async ({ signal }) => (await findDocuments({ id: documentId, limit: 1 }, signal)).items[0]?.kb_id ?? null,
    enabled: isMissing,
    staleTime: Infinity,
  });
  if (!isMissing) return { place: documentId ? { kbId, documentId } : null, isNowhere: documentId === "", error: null };
  return { place: found.data ? { kbId: found.data, documentId } : null, isNowhere: found.data === null, error: found.error };
}
