"use client";

import { useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { CheckboxField } from "@/components/ui/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { showToast } from "@/components/ui/toast-store";
import { Conflict, type ArchivedDocument } from "@/lib/api";
import { archive as t, common } from "@/text";

import { DeleteField, isTheWord } from "./delete-field";
import { PurgeResult } from "./purge-result";
import { Steps } from "./purge-steps";
import { placeOf, usePurge } from "./use-archive";
import { whyNotPurged } from "./ways-out";
import { WhatGoes } from "./what-goes";

/** One document, in two steps. What is not proven yet stays on the screen until its receipt is there. */
export function PurgeDialog({ document, onClose, onReceipt }: { document: ArchivedDocument; onClose: () => void; onReceipt: (receiptId: string) => void }) {
  const [step, setStep] = useState<1 | 2>(1);
  const [word, setWord] = useState("");
  const [cancelHandOver, setCancelHandOver] = useState(false);
  const cancel = useRef<HTMLButtonElement>(null);
  const purge = usePurge();
  const isHandedOver = purge.error instanceof Conflict || cancelHandOver;

  const carryOut = () =>
    purge.mutate(
      { place: placeOf(document), cancelHandOver },
      {
        onSuccess: (purged) => {
          if ("pending" in purged) return;
          const receiptId = purged.receipt_id;
          onClose();
          showToast({
            text: t.purge.done(document.name),
            icon: "check",
            action: { label: t.purge.showReceipt, onSelect: () => onReceipt(receiptId) },
          });
        },
        onError: (error) => {
          if (error instanceof Conflict) setStep(1); // the choice stands there
        },
      },
    );

  if (purge.data && "pending" in purge.data) {
    return <PurgeResult documents={[document]} fates={new Map([[document.id, { kind: "follows" }]])} onClose={onClose} onReceipt={onReceipt} />;
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.purge.question(document.name)}
      above={<Steps step={step} />}
      focusFirst={cancel}
      foot={
        <>
          {step === 2 && (
            <Button kind="bare" icon="left" className="mr-auto" onClick={() => setStep(1)}>
              {common.back}
            </Button>
          )}
          <Button ref={cancel} onClick={onClose}>
            {common.cancel}
          </Button>
          {step === 1 ? (
            <Button kind="wax-outline" onClick={() => setStep(2)}>
              {common.goOn}
            </Button>
          ) : (
            <Button kind="wax" isBusy={purge.isPending} disabled={!isTheWord(word)} onClick={carryOut}>
              {t.purge.action}
            </Button>
          )}
        </>
      }
    >
      <div className="grid gap-4">
        {purge.error && <Banner tone="failed" {...whyNotPurged(purge.error, purge.variables.cancelHandOver)} />}
        {step === 1 && (
          <>
            <p>{t.purge.explain}</p>
            {isHandedOver && (
              <CheckboxField checked={cancelHandOver} onChange={(event) => setCancelHandOver(event.target.checked)} hint={t.purge.cancelHandOverHint}>
                {t.purge.cancelHandOver}
              </CheckboxField>
            )}
          </>
        )}
        {step === 2 && (
          <>
            <WhatGoes documents={[document]} />
            <DeleteField value={word} onValue={setWord} onEnter={carryOut} />
          </>
        )}
      </div>
    </Dialog>
  );
}
