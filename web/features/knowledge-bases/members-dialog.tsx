"use client";

import { useState } from "react";

import { mayManage } from "@/features/session/rights";
import { usePerson } from "@/features/session/signed-in";
import { Avatar } from "@/components/ui/avatar";
import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Failure } from "@/components/ui/failure";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import type { KnowledgeBase, Member } from "@/lib/api";
import { common, knowledgeBases } from "@/text";

import { AddMember } from "./add-member";
import { MakeOwnerDialog } from "./make-owner-dialog";
import { MemberRow } from "./member-row";
import { useMemberChanges, useMembers } from "./use-members";

const t = knowledgeBases.people;

/** Who is in it. Whoever manages it decides; the others read. */
export function MembersDialog({ kb, onClose }: { kb: KnowledgeBase; onClose: () => void }) {
  const me = usePerson();
  const members = useMembers(kb.id);
  const { add, change, remove } = useMemberChanges(kb.id);
  const [heir, setHeir] = useState<Member | null>(null);
  const isManager = mayManage(kb.role);
  const problem = change.error ?? remove.error;
  // One dialog at a time: the question takes the place of the list.
  if (heir) return <MakeOwnerDialog kb={kb} heir={heir} onClose={() => setHeir(null)} />;
  return (
    <Dialog isOpen onClose={onClose} title={<bdi>{t.title(kb.name)}</bdi>} width={560} foot={<Button onClick={onClose}>{common.close}</Button>}>
      {isManager && <AddMember kb={kb} adding={add} suggests={me.is_admin} />}
      {problem && <Banner tone="failed" className="mt-3" {...sentencesOf(problem)} />}
      <ul aria-label={t.list} className="mt-4 divide-y divide-line border-y border-line dark:divide-line-2">
        <li className="flex min-h-11 items-center gap-3">
          <Avatar email={kb.owner_email} />
          <bdi className="min-w-0 flex-1 truncate text-ink">{kb.owner_email}</bdi>
          <span className="pr-2.5 text-13">{t.owner}</span>
        </li>
        {members.data?.items.map((member) => (
          <MemberRow
            key={member.user_id}
            member={member}
            isManager={isManager}
            onRole={(role) => change.mutate({ userId: member.user_id, role })}
            onRemove={() => remove.mutate({ userId: member.user_id, email: member.email })}
            onMakeOwner={() => setHeir(member)}
          />
        ))}
      </ul>
      {members.isPending && (
        <Skeleton className="py-3">
          <Bone width="60%" />
        </Skeleton>
      )}
      {members.error && <Failure error={members.error} onRetry={() => void members.refetch()} />}
      {members.data?.total === 0 && <p className="mt-3 text-13 text-ink-3">{t.none}</p>}
    </Dialog>
  );
}
