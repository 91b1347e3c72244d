"use client";

import Link from "next/link";
import { useEffect, useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { explainDocument, NameTaken, type ArchivedDocument, type DocumentPlace } from "@/lib/api";
import { hrefOfDocument } from "@/lib/hrefs";
import { archive as t, common } from "@/text";

import { placeOf } from "./use-archive";
import { whyNotRestored } from "./ways-out";

/** Asks, restores, and where it cannot be done says why, in the server's words, and what to do about it. */
export function RestoreDialog({
  document,
  onRestore,
  onClose,
}: {
  document: ArchivedDocument;
  onRestore: (document: ArchivedDocument) => Promise<unknown>;
  onClose: () => void;
}) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const act = useRef<HTMLButtonElement>(null);
  const restore = async () => {
    setBusy(true);
    setError(null);
    try {
      await onRestore(document);
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.restore.question(document.name)}
      focusFirst={act}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button ref={act} kind="primary" isBusy={isBusy} onClick={() => void restore()}>
            {t.restore.action}
          </Button>
        </>
      }
    >
      {error !== null && (
        <Banner
          tone="failed"
          title={whyNotRestored(error).title}
          text={
            <>
              {whyNotRestored(error).text} {error instanceof NameTaken && <NamesakeLink place={placeOf(document)} />}
            </>
          }
        />
      )}
    </Dialog>
  );
}

/** The way to the document that has the name, as soon as the server has told which one it is. */
function NamesakeLink({ place: { kbId, documentId } }: { place: DocumentPlace }) {
  const [namesake, setNamesake] = useState<string | null>(null);
  useEffect(() => {
    const left = new AbortController();
    explainDocument({ kbId, documentId }, left.signal).then(
      ({ moves }) => setNamesake(moves.find(({ move }) => move === "restore")?.blocked_by ?? null),
      () => setNamesake(null), // the sentence says enough
    );
    return () => left.abort();
  }, [kbId, documentId]);
  if (!namesake) return null;
  return (
    <Link href={hrefOfDocument({ kbId, documentId: namesake })} className="whitespace-nowrap">
      {t.restore.showTaken}
    </Link>
  );
}
