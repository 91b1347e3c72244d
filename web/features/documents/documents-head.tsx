"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { KnowledgeBaseHeadActions } from "@/features/knowledge-bases/knowledge-base-head-actions";
import type { Chooser } from "@/features/upload/chooser";
import { UploadButtons } from "@/features/upload/upload-buttons";
import type { KnowledgeBase } from "@/lib/api";
import { plural } from "@/lib/format";
import { ALL_KNOWLEDGE_BASES } from "@/lib/hrefs";
import { documents as t, shell } from "@/text";

import { activeOf } from "./documents-bar";

export function DocumentsHead({ kb, chooser }: { kb: KnowledgeBase; chooser: Chooser | null }) {
  const standing = kb.role === "owner" ? t.owned : t.standing[kb.role];
  const facts = [plural(activeOf(kb.counts), t.one, t.many), standing, t.handsOver[kb.hand_over_policy]].filter(Boolean);
  return (
    <SheetHead
      title={<bdi>{kb.name}</bdi>}
      documentTitle={kb.name}
      crumbs={[{ href: ALL_KNOWLEDGE_BASES, label: shell.knowledgeBases }]}
      facts={facts.join(" · ")}
      actions={
        <>
          <KnowledgeBaseHeadActions kb={kb} />
          {chooser?.inputs}
          {chooser && <UploadButtons chooser={chooser} />}
        </>
      }
    />
  );
}
