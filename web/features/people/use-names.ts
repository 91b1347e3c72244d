"use client";

import { useQueries, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";

import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { managesPeople, mayManage } from "@/features/session/rights";
import { usePerson } from "@/features/session/signed-in";
import { keys, listMembers, listUsers, type User } from "@/lib/api";
import { people as t } from "@/text";

const AT_ONCE = 100;
const PAGES = 10;
const CALM = { staleTime: 5 * 60_000 };

/** Everybody whose e-mail one may know, by id: all people for admins, members of their own knowledge bases for owners. */
export function useNames(): ReadonlyMap<string, string> {
  const me = usePerson();
  const isManager = managesPeople(me);
  const { data: kbs } = useKnowledgeBases();
  const owned = isManager ? [] : (kbs?.items ?? []).filter((kb) => mayManage(kb.role));
  const { data: users } = useQuery({ queryKey: keys.users({ of: "names" }), queryFn: ({ signal }) => everybody(signal), enabled: isManager, ...CALM });
  const members = useQueries({
    queries: owned.map((kb) => ({
      queryKey: keys.members(kb.id, { limit: AT_ONCE }),
      queryFn: ({ signal }: { signal: AbortSignal }) => listMembers(kb.id, { limit: AT_ONCE }, signal),
      ...CALM,
    })),
    combine: (answers) => answers.flatMap(({ data }) => data?.items ?? []),
  });
  return useMemo(
    () =>
      new Map([
        ...(users ?? []).map((user) => [user.id, user.email] as const),
        ...members.map((member) => [member.user_id, member.email] as const),
        [me.id, me.email] as const,
      ]),
    [users, members, me],
  );
}

async function everybody(signal: AbortSignal): Promise<User[]> {
  const found: User[] = [];
  for (let page = 1; page <= PAGES; page += 1) {
    const { items, total } = await listUsers({ page, limit: AT_ONCE }, signal);
    found.push(...items);
    if (found.length >= total || items.length === 0) break;
  }
  return found;
}

/** An actor of the trail in words: an e-mail, Muniment itself, or the id where one may know no more. */
export function useNameOf(): (actor: string) => string {
  const names = useNames();
  return useCallback((actor: string) => (actor === "system" ? t.system : (names.get(actor) ?? shortId(actor))), [names]);
}

/** The ends of an id, as a person compares them: `0199a3f2…2a90`. */
export const shortId = (id: string): string => (id.length > 14 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);
