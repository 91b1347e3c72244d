"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";

import { mayManage } from "@/features/session/rights";
import { Button } from "@/components/ui/button";
import type { KnowledgeBase } from "@/lib/api";
import { knowledgeBases as t } from "@/text";

import { KnowledgeBaseActions, KnowledgeBaseDialogs } from "./knowledge-base-actions";

/** On the page of a knowledge base: its members by a button, the rest behind its menu. */
export function KnowledgeBaseHeadActions({ kb }: { kb: KnowledgeBase }) {
  const [isOpen, setOpen] = useState(false);
  const router = useRouter();
  const isManager = mayManage(kb.role);
  return (
    <>
      {isManager && <KnowledgeBaseActions kb={kb} isOnItsPage onRemoved={() => router.replace("/")} />}
      <Button icon="people" onClick={() => setOpen(true)} className={isManager ? "max-md:hidden" : ""}>
        {t.viewMembers}
      </Button>
      <KnowledgeBaseDialogs kb={kb} open={isOpen ? "members" : null} onClose={() => setOpen(false)} />
    </>
  );
}
