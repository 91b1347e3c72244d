"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef } from "react";

import { sentencesOf } from "@/components/ui/error-sentences";
import { showToast } from "@/components/ui/toast-store";
import { withName } from "@/components/ui/with-name";
import * as api from "@/lib/api";
import { plural } from "@/lib/format";
import { common, documents as t } from "@/text";

import type { Ghosts } from "./use-ghosts";

type Document = api.Document;
const placeOf = ({ kb_id, id }: Document): api.DocumentPlace => ({ kbId: kb_id, documentId: id });

const failedNameOf = ({ failed_replacement, name }: Document): string => failed_replacement?.name ?? name;

export interface Moves {
  archive: (document: Document) => Promise<void>;
  archiveSeveral: (documents: readonly Document[]) => Promise<void>;
  undo: (documents: readonly Document[]) => Promise<void>;
  /** The last archiving, while it can be undone. */
  undoLast: () => void;
  clear: (document: Document) => Promise<void>;
  cancel: (document: Document) => Promise<void>;
  retry: (document: Document) => Promise<void>;
  revert: (document: Document) => Promise<void>;
  retryReplacement: (document: Document) => Promise<void>;
  discardReplacement: (document: Document) => Promise<void>;
}

/** Every move of the lifecycle that this page offers. A refusal is thrown to whoever asked for it. */
export function useMoves(kbId: string, ghosts: Ghosts): Moves {
  const client = useQueryClient();
  const last = useRef<{ documents: readonly Document[]; dismiss: () => void } | null>(null);
  const { add, remove } = ghosts;
  return useMemo(() => {
    const refresh = (documents: readonly Document[]): Promise<void> => {
      const lists = [api.keys.knowledgeBase(kbId), api.keys.knowledgeBases(), api.keys.archived()];
      for (const key of [...lists, ...documents.map(({ id }) => api.keys.document(id))]) void client.invalidateQueries({ queryKey: key });
      return client.invalidateQueries({ queryKey: api.keys.documents(kbId) });
    };
    const during = async (documents: readonly Document[], move: () => Promise<unknown>) => {
      try {
        await move();
      } finally {
        void refresh(documents); // also after a refusal: what we show is not what is there
      }
    };
    const offerUndo = (documents: readonly Document[], text: React.ReactNode) => {
      add(documents);
      const dismiss = showToast({ text, icon: "box", action: { label: common.undo, onSelect: () => void undo(documents) } });
      last.current = { documents, dismiss };
    };
    const undo = async (documents: readonly Document[]) => {
      if (last.current?.documents === documents) last.current = null;
      const refused: { document: Document; error: unknown }[] = [];
      await during(documents, async () => {
        for (const document of documents) await api.restoreDocument(placeOf(document)).catch((error: unknown) => refused.push({ document, error }));
      });
      // The row stays in its place until the list has it again.
      await refresh(documents);
      remove(documents.map(({ id }) => id));
      tellUndone(documents, refused);
    };
    return {
      archive: async (document) => {
        await during([document], () => api.archiveDocument(placeOf(document)));
        offerUndo([document], withName(t.archive.done, document.name));
      },
      archiveSeveral: async (documents) => {
        await during(documents, async () => {
          const done = await api.archiveDocuments(
            kbId,
            documents.map(({ id }) => id),
          );
          const archived = documents.filter(({ id }) => !done.skipped_ids.includes(id));
          if (archived.length > 0) offerUndo(archived, done.message);
          else showToast({ text: done.message, icon: "alert", tone: "alert" });
        });
      },
      undo,
      undoLast: () => {
        last.current?.dismiss();
        if (last.current) void undo(last.current.documents);
      },
      clear: async (document) => {
        await during([document], () => api.clearDocument(placeOf(document)));
        showToast({ text: withName(t.clear.done, document.name), icon: "trash" });
      },
      cancel: async (document) => {
        await during([document], () => api.cancelDocument(placeOf(document)));
        showToast({ text: withName(t.cancel.done, document.name), icon: "stop" });
      },
      retry: async (document) => {
        try {
          await during([document], () => api.retryDocument(placeOf(document)));
          showToast({ text: withName(t.retry.done, document.name), icon: "retry" });
        } catch (error) {
          showToast({ text: sentencesOf(error).title, icon: "alert", tone: "alert" });
        }
      },
      revert: async (document) => {
        let name = document.name;
        await during([document], async () => {
          ({ name } = await api.revertDocument(placeOf(document)));
        });
        showToast({ text: withName(t.bringBack.done, name), icon: "undo" });
      },
      retryReplacement: async (document) => {
        await during([document], () => api.retryReplacement(placeOf(document)));
        showToast({ text: withName(t.failedReplacement.retried, failedNameOf(document)), icon: "retry" });
      },
      discardReplacement: async (document) => {
        await during([document], () => api.discardReplacement(placeOf(document)));
        showToast({ text: withName(t.failedReplacement.discarded, failedNameOf(document)), icon: "trash" });
      },
    };
  }, [client, kbId, add, remove]);
}

function tellUndone(documents: readonly Document[], refused: readonly { document: Document; error: unknown }[]): void {
  const [first] = documents;
  const [problem] = refused;
  if (problem && documents.length === 1) {
    const { title } = sentencesOf(problem.error);
    // The server's own words, and the way out where another document took the name meanwhile.
    showToast({ text: problem.error instanceof api.NameTaken ? `${title}. ${t.archive.undoFailed}` : title, icon: "alert", tone: "alert" });
  } else if (problem) {
    showToast({ text: t.archiveSeveral.someStay(plural(refused.length, t.one, t.many)), icon: "alert", tone: "alert" });
  } else if (first) {
    const text = documents.length === 1 ? withName(t.archive.undone, first.name) : t.archiveSeveral.undone(plural(documents.length, t.one, t.many));
    showToast({ text, icon: "undo" });
  }
}
