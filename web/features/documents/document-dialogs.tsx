"use client";

import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { withName } from "@/components/ui/with-name";
import type { Document } from "@/lib/api";
import { documents as t } from "@/text";

import { ArchiveSeveralDialog } from "./archive-several-dialog";
import type { Asked } from "./asked";
import { BringBackDialog } from "./bring-back-dialog";
import { ExplainDialog } from "./explain-dialog";
import { FailedReplacementDialog } from "./failed-replacement-dialog";
import { mayHaveOldOne } from "./menu-plan";
import { ReplaceDialog } from "./replace-dialog";
import type { Moves } from "./use-moves";

export interface DocumentDialogsProps {
  asked: Asked | null;
  onClose: () => void;
  moves: Moves;
  /** The selection was archived. */
  onArchived: () => void;
  onReplace: (document: Document) => void;
}

/** The question that is open. Each keeps its word from the menu to the button to the toast. */
export function DocumentDialogs({ asked, onClose, moves, onArchived, onReplace }: DocumentDialogsProps) {
  if (!asked) return null;
  switch (asked.kind) {
    case "archive":
      return (
        <ConfirmDialog
          isOpen
          onClose={onClose}
          question={withName(t.archive.question, asked.document.name)}
          action={t.archive.action}
          onConfirm={() => moves.archive(asked.document)}
        />
      );
    case "archiveSeveral":
      return (
        <ArchiveSeveralDialog
          chosen={asked.documents}
          onClose={onClose}
          onConfirm={async () => {
            await moves.archiveSeveral(asked.documents);
            onArchived();
          }}
        />
      );
    case "clear":
      return (
        <ConfirmDialog
          isOpen
          onClose={onClose}
          question={withName(t.clear.question, asked.document.name)}
          action={t.clear.action}
          onConfirm={() => moves.clear(asked.document)}
          isDestructive
        >
          {mayHaveOldOne(asked.document) && <p>{t.clear.withOld}</p>}
        </ConfirmDialog>
      );
    case "cancel":
      return (
        <ConfirmDialog
          isOpen
          onClose={onClose}
          question={withName(t.cancel.question, asked.document.name)}
          action={t.cancel.action}
          keep={t.cancel.keep}
          onConfirm={() => moves.cancel(asked.document)}
        >
          <p>{t.cancel.text}</p>
        </ConfirmDialog>
      );
    case "replace":
      return <ReplaceDialog document={asked.document} file={asked.file} onClose={onClose} />;
    case "bringBack":
      return (
        <BringBackDialog
          document={asked.document}
          onClose={onClose}
          onRevert={() => moves.revert(asked.document)}
          onAnother={() => {
            onClose();
            onReplace(asked.document);
          }}
        />
      );
    case "failedReplacement":
      return (
        <FailedReplacementDialog
          document={asked.document}
          onClose={onClose}
          onRetry={() => moves.retryReplacement(asked.document)}
          onDiscard={() => moves.discardReplacement(asked.document)}
          onAnother={() => {
            onClose();
            onReplace(asked.document);
          }}
        />
      );
    case "explain":
      return <ExplainDialog document={asked.document} onClose={onClose} />;
  }
}
