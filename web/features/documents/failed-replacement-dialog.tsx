"use client";

import { useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Time } from "@/components/ui/time";
import { withName } from "@/components/ui/with-name";
import type { Document } from "@/lib/api";
import { documents } from "@/text";

const t = documents.failedReplacement;

/** After a replacement that could not be read and was reverted: try its file again, delete it, or choose another one. */
export function FailedReplacementDialog({
  document,
  onClose,
  onRetry,
  onDiscard,
  onAnother,
}: {
  document: Document;
  onClose: () => void;
  onRetry: () => Promise<void>;
  onDiscard: () => Promise<void>;
  onAnother: () => void;
}) {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState<"retry" | "discard" | null>(null);
  const act = useRef<HTMLButtonElement>(null);
  const run = async (which: "retry" | "discard", move: () => Promise<void>) => {
    setBusy(which);
    setError(null);
    try {
      await move();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(null);
    }
  };
  const failed = document.failed_replacement;
  if (!failed) return null;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.title}
      focusFirst={act}
      hasCloseButton
      foot={
        <>
          <Button className="md:mr-auto" onClick={onAnother}>
            {t.another}
          </Button>
          <Button isBusy={busy === "discard"} onClick={() => void run("discard", onDiscard)}>
            {t.discard}
          </Button>
          <Button ref={act} kind="primary" icon="retry" isBusy={busy === "retry"} onClick={() => void run("retry", onRetry)}>
            {t.retry}
          </Button>
        </>
      }
    >
      <p className="[overflow-wrap:anywhere]">{withName(t.text, failed.name)}</p>
      <p className="mt-2 text-13 text-ink-3 [overflow-wrap:anywhere]">{t.why(failed.error)}</p>
      <p className="mt-2 text-13 text-ink-3">
        {t.kept} <Time at={failed.expires_at} />.
      </p>
      {error !== null && <Banner tone="failed" className="mt-3" {...sentencesOf(error)} />}
    </Dialog>
  );
}
