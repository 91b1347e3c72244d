"use client";

import { useRef, useState } from "react";

import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Progress } from "@/components/ui/progress";
import type { ArchivedDocument } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { archive as t, common } from "@/text";

import { DeleteField, isTheWord } from "./delete-field";
import { PurgeResult } from "./purge-result";
import { countsOf, type Fates } from "./purge-run";
import { Steps } from "./purge-steps";
import { usePurgeRun } from "./use-purge-run";
import { WhatGoes } from "./what-goes";

const NAMED = 5;

/** Those that were selected: the same two steps with the count and the first names, then one result that names them all. */
export function PurgeManyDialog({
  documents,
  onClose,
  onReceipt,
  onDone,
}: {
  documents: readonly ArchivedDocument[];
  onClose: () => void;
  onReceipt: (receiptId: string) => void;
  onDone: () => void;
}) {
  const [step, setStep] = useState<1 | 2>(1);
  const [word, setWord] = useState("");
  const cancel = useRef<HTMLButtonElement>(null);
  const { run, start, stop } = usePurgeRun();
  // The selection changes while they go; what was confirmed does not.
  const [confirmed] = useState(documents);
  const carryOut = () => void start(confirmed).then(onDone);

  if (run.state === "done") return <PurgeResult documents={confirmed} fates={run.fates} onClose={onClose} onReceipt={onReceipt} />;
  const isRunning = run.state === "running";
  return (
    <Dialog
      isOpen
      onClose={() => !isRunning && onClose()}
      title={t.purge.questionMany(confirmed.length)}
      above={<Steps step={step} />}
      focusFirst={cancel}
      foot={
        <>
          {step === 2 && !isRunning && (
            <Button kind="bare" icon="left" className="mr-auto" onClick={() => setStep(1)}>
              {common.back}
            </Button>
          )}
          <Button ref={cancel} onClick={isRunning ? stop : onClose}>
            {isRunning ? t.purge.stop : common.cancel}
          </Button>
          {step === 1 ? (
            <Button kind="wax-outline" onClick={() => setStep(2)}>
              {common.goOn}
            </Button>
          ) : (
            <Button kind="wax" isBusy={isRunning} disabled={!isTheWord(word)} onClick={carryOut}>
              {isRunning && run.secondsToWait !== null ? t.purge.waits(run.secondsToWait) : t.purge.action}
            </Button>
          )}
        </>
      }
    >
      <div className="grid gap-4">
        {step === 1 && <FirstNames documents={confirmed} />}
        {step === 2 && !isRunning && (
          <>
            <WhatGoes documents={confirmed} />
            <DeleteField value={word} onValue={setWord} onEnter={carryOut} />
          </>
        )}
        {isRunning && <Running fates={run.fates} total={confirmed.length} isWaiting={run.secondsToWait !== null} />}
      </div>
    </Dialog>
  );
}

function FirstNames({ documents }: { documents: readonly ArchivedDocument[] }) {
  const kbs = new Set(documents.map((document) => document.kb_id)).size;
  return (
    <div>
      <p>{t.purge.explain}</p>
      <p className="mt-3 text-13 text-ink-3">{t.purge.inKbs(kbs)}</p>
      <ul className="mt-1 text-ink">
        {documents.slice(0, NAMED).map((document) => (
          <li key={document.id} className="border-b border-line py-1 [overflow-wrap:anywhere] last:border-0">
            <bdi>{document.name}</bdi>
          </li>
        ))}
        {documents.length > NAMED && <li className="py-1 text-ink-3">{t.purge.andMore(documents.length - NAMED)}</li>}
      </ul>
    </div>
  );
}

function Running({ fates, total, isWaiting }: { fates: Fates; total: number; isWaiting: boolean }) {
  const { purged, skipped, failed } = countsOf(fates);
  return (
    <div className="grid gap-2">
      <p role="status">{t.purge.progress(formatCount(purged), formatCount(total))}</p>
      <Progress
        label={t.purge.progressLabel}
        sent={(purged + skipped + failed) / total}
        read={(purged + skipped + failed) / total}
        tone={isWaiting ? "paused" : "busy"}
      />
      {isWaiting && <p className="text-13 text-ink-3">{t.purge.waitsWhy}</p>}
    </div>
  );
}
