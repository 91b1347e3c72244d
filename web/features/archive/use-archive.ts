"use client";

import { keepPreviousData, useMutation, useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";

import { archiveDocument, keys, listArchived, purgeDocument, restoreDocument, type ArchivedDocument, type DocumentPlace } from "@/lib/api";

import { archivedQuery, type ArchiveState } from "./archive-view";

const ONE = { limit: 1 };

export const placeOf = (document: ArchivedDocument): DocumentPlace => ({ kbId: document.kb_id, documentId: document.id });

/** The archive as the address wants it, and the ways out of it: back to the documents, or away for good. */
export function useArchive(state: ArchiveState) {
  const client = useQueryClient();
  const query = archivedQuery(state);
  const list = useQuery({
    queryKey: keys.archived(query),
    queryFn: ({ signal }) => listArchived(query, signal),
    placeholderData: keepPreviousData,
  });
  /** Of the whole archive, whatever the filters say. */
  const total = useQuery({
    queryKey: keys.archived(ONE),
    queryFn: ({ signal }) => listArchived(ONE, signal),
    select: (page) => page.total,
    placeholderData: keepPreviousData,
  });
  // Whoever was refused looks at something that is no longer so: the list is asked anew then, too.
  const onSettled = () => refreshArchive(client);
  const restore = useMutation({ mutationFn: restoreDocument, onSettled });
  const archiveAgain = useMutation({ mutationFn: archiveDocument, onSettled });
  return { list, total, restore, archiveAgain };
}

export function usePurge() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ place, cancelHandOver }: { place: DocumentPlace; cancelHandOver: boolean }) => purgeDocument(place, { cancelHandOver }),
    onSettled: () => refreshArchive(client),
  });
}

/** Everything in which a document that was moved or purged appears. */
export function refreshArchive(client: QueryClient): void {
  for (const queryKey of [keys.archived(), keys.documents(), keys.knowledgeBases(), ["document"], keys.receipts(), keys.events()]) {
    void client.invalidateQueries({ queryKey });
  }
}
