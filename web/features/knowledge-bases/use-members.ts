"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { showToast } from "@/components/ui/toast-store";
import { findColleague, keys, listMembers, removeMember, setMember, type Role } from "@/lib/api";
import { knowledgeBases } from "@/text";

const t = knowledgeBases.people;
const MOST = { limit: 100 };

export function useMembers(kbId: string) {
  return useQuery({ queryKey: keys.members(kbId, MOST), queryFn: ({ signal }) => listMembers(kbId, MOST, signal) });
}

/** Whoever owns or administers it adds, changes and removes members. */
export function useMemberChanges(kbId: string) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.members(kbId) });
  const add = useMutation({
    mutationFn: async ({ email, role }: { email: string; role: Role }) => setMember(kbId, (await findColleague(kbId, email.trim())).user_id, role),
    onSuccess: (member) => {
      showToast({ text: t.added(member.email), icon: "check" });
      return refresh();
    },
  });
  const change = useMutation({
    mutationFn: ({ userId, role }: { userId: string; role: Role }) => setMember(kbId, userId, role),
    onSuccess: (member) => {
      showToast({ text: t.changed(member.email, t.shortRoles[member.role].toLowerCase()), icon: "check" });
      return refresh();
    },
  });
  const remove = useMutation({
    mutationFn: ({ userId }: { userId: string; email: string }) => removeMember(kbId, userId),
    onSuccess: (_, { email }) => {
      showToast({ text: t.removed(email), icon: "check" });
      return refresh();
    },
  });
  return { add, change, remove };
}
