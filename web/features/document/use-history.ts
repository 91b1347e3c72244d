"use client";

import { useMutation, useQuery } from "@tanstack/react-query";

import { mayManage } from "@/features/session/rights";
import { usePerson } from "@/features/session/signed-in";
import {
  explainDocument,
  keys,
  listEvents,
  listMembers,
  listSimilar,
  listUsers,
  verifyAudit,
  type Document,
  type DocumentPlace,
  type Standing,
} from "@/lib/api";

import { keyOfPart, useRuns } from "./use-document";
import { timelineOf } from "./timeline";

export const MOST_EVENTS = 50;

/** The timeline; of the trail only what this person may read. */
export function useHistory(place: DocumentPlace, document: Document, standing: Standing) {
  const mayRead = mayManage(standing);
  const events = useQuery({
    queryKey: keyOfPart(place, "events"),
    queryFn: ({ signal }) => listEvents({ document_id: place.documentId, limit: MOST_EVENTS }, signal),
    enabled: mayRead,
    // A line is sealed some seconds after it was written.
    refetchInterval: ({ state }) => (state.data?.items.some((event) => !event.sealed) ? 4_000 : false),
  });
  const runs = useRuns(place);
  const isReady = runs.data !== undefined && (!mayRead || events.data !== undefined);
  return {
    entries: isReady ? timelineOf(document, runs.data.items, events.data?.items ?? null) : null,
    hasMore: (events.data?.total ?? 0) > MOST_EVENTS,
    mayRead,
    error: runs.error ?? events.error,
    retry: () => void Promise.all([runs.refetch(), mayRead ? events.refetch() : null]),
  };
}

const PEOPLE = { limit: 100 };

/** The address of whoever did something, as far as this person may know it. */
export function useActors(document: Document): (actor: string) => string | null {
  const me = usePerson();
  const members = useQuery({ queryKey: keys.members(document.kb_id, PEOPLE), queryFn: ({ signal }) => listMembers(document.kb_id, PEOPLE, signal) });
  const users = useQuery({ queryKey: keys.users(PEOPLE), queryFn: ({ signal }) => listUsers(PEOPLE, signal), enabled: me.is_admin });
  const known = new Map<string, string>([
    ...(users.data?.items ?? []).map((user) => [user.id, user.email] as const),
    ...(members.data?.items ?? []).map((member) => [member.user_id, member.email] as const),
    ...(document.uploaded_by_email ? [[document.uploaded_by, document.uploaded_by_email] as const] : []),
    [me.id, me.email],
  ]);
  return (actor) => known.get(actor) ?? null;
}

/** Only admins may have the whole chain checked. */
export function useVerify() {
  return useMutation({ mutationFn: () => verifyAudit({}) });
}

export function useExplanation(place: DocumentPlace, isWanted = true) {
  return useQuery({ queryKey: keyOfPart(place, "explain"), queryFn: ({ signal }) => explainDocument(place, signal), enabled: isWanted });
}

export function useSimilar(place: DocumentPlace, isWanted: boolean) {
  return useQuery({ queryKey: keyOfPart(place, "similar"), queryFn: ({ signal }) => listSimilar(place, 10, signal), enabled: isWanted, staleTime: 60_000 });
}
