"use client";

import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import {
  discardDeadLetter,
  getProcessingQueue,
  getReadiness,
  getReconciliation,
  getSavings,
  getUsage,
  keys,
  listArchiveQueue,
  listDeadLetters,
  NotFound,
  requeueDeadLetter,
} from "@/lib/api";

const EVERY_MS = 30_000;
const MANNERS = { refetchInterval: EVERY_MS, placeholderData: keepPreviousData } as const;

export const LIMIT = 10;

export const useReadiness = () => useQuery({ queryKey: keys.operations("health"), queryFn: ({ signal }) => getReadiness(signal), ...MANNERS });

export const useProcessing = () => useQuery({ queryKey: keys.operations("processing"), queryFn: ({ signal }) => getProcessingQueue(signal), ...MANNERS });

export const useSavings = () => useQuery({ queryKey: keys.operations("savings"), queryFn: ({ signal }) => getSavings(signal), ...MANNERS });

export const useUsage = (organizationId: string) =>
  useQuery({ queryKey: keys.operations("usage", { organizationId }), queryFn: ({ signal }) => getUsage(organizationId, signal), ...MANNERS });

/** Null before the first comparison. */
export const useReconciliation = () =>
  useQuery({
    queryKey: keys.operations("reconcile"),
    queryFn: ({ signal }) =>
      getReconciliation(signal).catch((error: unknown) => {
        if (error instanceof NotFound) return null;
        throw error;
      }),
    ...MANNERS,
  });

export function useArchiveQueue(page: number) {
  const query = { page, limit: LIMIT };
  return useQuery({ queryKey: keys.operations("archive-queue", query), queryFn: ({ signal }) => listArchiveQueue(query, signal), ...MANNERS });
}

export function useDeadLetters(page: number) {
  const query = { page, limit: LIMIT };
  return useQuery({ queryKey: keys.operations("dead-letters", query), queryFn: ({ signal }) => listDeadLetters(query, signal), ...MANNERS });
}

export function useLetterActs() {
  const client = useQueryClient();
  const onSettled = () => {
    for (const part of ["dead-letters", "archive-queue"]) void client.invalidateQueries({ queryKey: keys.operations(part) });
  };
  return {
    requeue: useMutation({ mutationFn: (key: string) => requeueDeadLetter(key), onSettled }),
    discard: useMutation({ mutationFn: (key: string) => discardDeadLetter(key), onSettled }),
  };
}

/** Everything at once, now. */
export function useLookAgain(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries({ queryKey: keys.operations() });
}
