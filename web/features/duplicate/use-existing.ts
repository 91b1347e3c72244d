"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { digest } from "@/features/upload/digest";
import { explainDocument, getDocument, keys, NotFound, type Document } from "@/lib/api";

import { formOf, type Asking, type Form } from "./forms";

/** The stream says when it changes; where it is blocked, we ask. */
const ASK_AGAIN_MS = 4_000;
/** A hash costs reading the whole file: worth it for what is read in a moment. */
const HASHED_UP_TO = 64 * 1024 * 1024;

export interface Existing {
  document: Document | undefined;
  form: Form;
  canRevert: boolean;
  /** Of the person's own file, where the sizes are the same. */
  hash: string | null;
}

/** The document that has the name, as it is now: the dialog follows it from one form to the next. */
export function useExisting({ kbId, file, state }: Asking): Existing {
  const place = { kbId, documentId: state.existingId };
  const { data: document, error } = useQuery({
    queryKey: keys.document(state.existingId),
    queryFn: ({ signal }) => getDocument(place, signal),
    refetchInterval: (query) => (query.state.data?.status === "processing" ? ASK_AGAIN_MS : false),
  });
  const form = error instanceof NotFound ? "gone" : formOf(document?.status ?? state.existingStatus);
  const { data: explanation } = useQuery({
    queryKey: keys.document(state.existingId, "explain"),
    queryFn: ({ signal }) => explainDocument(place, signal),
    enabled: form === "failed",
  });
  const canRevert = explanation?.moves.some(({ move, allowed }) => move === "revert" && allowed) ?? false;
  const hash = useHash(file, document !== undefined && document.file_size === file.size && file.size <= HASHED_UP_TO);
  return { document, form, canRevert, hash };
}

function useHash(file: File, isWanted: boolean): string | null {
  const [hash, setHash] = useState<string | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    let isCurrent = true;
    void digest(file).then((found) => isCurrent && setHash(found));
    return () => {
      isCurrent = false;
    };
  }, [file, isWanted]);
  return hash;
}
