"use client";

import { useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { withName } from "@/components/ui/with-name";
import type { Document } from "@/lib/api";
import { common, documents } from "@/text";

const t = documents.bringBack;

/** After a replace whose new file could not be read: the old one, or another new one. */
export function BringBackDialog({
  document,
  onClose,
  onRevert,
  onAnother,
}: {
  document: Document;
  onClose: () => void;
  onRevert: () => Promise<void>;
  onAnother: () => void;
}) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const act = useRef<HTMLButtonElement>(null);
  const revert = async () => {
    setBusy(true);
    setError(null);
    try {
      await onRevert();
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
      title={t.title}
      focusFirst={act}
      foot={
        <>
          <Button className="md:mr-auto" onClick={onAnother}>
            {t.another}
          </Button>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button ref={act} kind="primary" icon="undo" isBusy={isBusy} onClick={() => void revert()}>
            {t.action}
          </Button>
        </>
      }
    >
      <p className="[overflow-wrap:anywhere]">{withName(t.text, document.name)}</p>
      {document.last_error && <p className="mt-2 text-13 text-ink-3 [overflow-wrap:anywhere]">{t.why(document.last_error)}</p>}
      {error !== null && <Banner tone="failed" className="mt-3" {...sentencesOf(error)} />}
    </Dialog>
  );
}
