"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";

import { IconButton } from "@/components/ui/button";
import type { Asked } from "@/features/documents/asked";
import { DocumentActionsMenu } from "@/features/documents/document-actions-menu";
import { DocumentDialogs } from "@/features/documents/document-dialogs";
import type { RowAct } from "@/features/documents/menu-plan";
import { useGhosts } from "@/features/documents/use-ghosts";
import { useMoves } from "@/features/documents/use-moves";
import { useReplaceChooser } from "@/features/documents/use-replace-chooser";
import { mayEdit, mayManage } from "@/features/session/rights";
import type { Document, Standing } from "@/lib/api";
import { hrefOfKnowledgeBase } from "@/lib/hrefs";
import { document as t } from "@/text";

/** The same acts as in the list, with the same words; the document is open already. */
export function DocumentActions({ document, standing, onExplain }: { document: Document; standing: Standing; onExplain: (() => void) | null }) {
  const router = useRouter();
  const [asked, setAsked] = useState<Asked | null>(null);
  const moves = useMoves(document.kb_id, useGhosts());
  const replacing = useReplaceChooser((chosen, file) => setAsked({ kind: "replace", document: chosen, file }));
  const run = (act: RowAct) => {
    if (act === "retry") void moves.retry(document);
    else if (act === "replace") replacing.choose(document);
    else if (act === "explain" && onExplain) onExplain();
    else if (act !== "open" && act !== "download") setAsked({ kind: act, document });
  };
  // What was cleared is nowhere any more: back to where it was listed.
  const clear = async (cleared: Document) => {
    await moves.clear(cleared);
    router.push(hrefOfKnowledgeBase(cleared.kb_id));
  };
  return (
    <>
      <DocumentActionsMenu
        document={document}
        mayManage={mayManage(standing)}
        mayEdit={mayEdit(standing)}
        onAct={run}
        without={["open"]}
        trigger={<IconButton label={t.actions(document.name)} icon="more" kind="plain" tooltip={false} className="max-md:border-transparent" />}
      />
      {replacing.input}
      <DocumentDialogs asked={asked} onClose={() => setAsked(null)} moves={{ ...moves, clear }} onArchived={() => undefined} onReplace={replacing.choose} />
    </>
  );
}
