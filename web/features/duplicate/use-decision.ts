"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { showToast } from "@/components/ui/toast-store";
import { withName } from "@/components/ui/with-name";
import { replaceInstead, uploads } from "@/features/upload/uploads";
import { keys, restoreDocument, revertDocument } from "@/lib/api";
import { duplicate as t } from "@/text";

import type { Act, Asking } from "./forms";

export interface Decision {
  isBusy: boolean;
  error: unknown;
  decide: (act: Act) => Promise<void>;
  cancel: () => void;
}

/** Carries out what was decided, for the current file and for those of the rest that it was meant for. */
export function useDecision(item: Asking, rest: readonly Asking[]): Decision {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const client = useQueryClient();

  const bringBack = async (which: Asking, act: "restore" | "revert") => {
    const place = { kbId: which.kbId, documentId: which.state.existingId };
    try {
      const { name } = await (act === "restore" ? restoreDocument(place) : revertDocument(place));
      uploads.drop(which.id);
      showToast({ text: withName(act === "restore" ? t.restored : t.isBack, name), icon: "check" });
    } finally {
      // Also after a refusal: the document is not what the dialog took it for.
      const lists = [keys.documents(which.kbId), keys.knowledgeBase(which.kbId), keys.knowledgeBases(), keys.archived()];
      for (const key of [...lists, keys.document(place.documentId)]) void client.invalidateQueries({ queryKey: key });
    }
  };

  const decide = async (act: Act) => {
    if (act === "upload") return uploads.again(item.id);
    if (act === "replace") {
      for (const which of [item, ...rest]) replaceInstead(which.id, which.state.existingId);
      return;
    }
    setBusy(true);
    setError(null);
    try {
      // What fails for one of the rest is asked about on its own: it stays in line.
      for (const which of rest) await bringBack(which, act).catch(() => null);
      await bringBack(item, act);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  const cancel = () => {
    for (const which of [item, ...rest]) uploads.drop(which.id);
  };

  return { isBusy, error, decide, cancel };
}
