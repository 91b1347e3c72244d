"use client";

import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { showToast } from "@/components/ui/toast-store";
import { changeKnowledgeBase, type KnowledgeBase, type Member } from "@/lib/api";
import { knowledgeBases } from "@/text";

import { useRefreshKnowledgeBases } from "./use-knowledge-base-changes";

const t = knowledgeBases.people;

/** Another owner. Whoever owned it until now stays as an editor, and may lose the right to take it back. */
export function MakeOwnerDialog({ kb, heir, onClose }: { kb: KnowledgeBase; heir: Member; onClose: () => void }) {
  const refresh = useRefreshKnowledgeBases();
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      question={t.makeOwnerQuestion(heir.email, kb.name)}
      action={t.makeOwnerAction}
      onConfirm={async () => {
        await changeKnowledgeBase(kb.id, { owner_id: heir.user_id });
        showToast({ text: t.handedOver(heir.email), icon: "check" });
        await refresh();
      }}
    >
      <p>{kb.role === "owner" ? t.makeOwnerText : t.makeOwnerTextAdmin}</p>
    </ConfirmDialog>
  );
}
