"use client";

import { useEffect, useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { CheckboxField } from "@/components/ui/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Icon } from "@/components/ui/icons";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { useKnowledgeBase } from "@/features/knowledge-bases/use-knowledge-bases";
import { mayManage } from "@/features/session/rights";
import { NameTaken } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { common, duplicate as t } from "@/text";

import { ConfirmSteps } from "./confirm-steps";
import { actsOf, differenceOf, equalsOf, wordOf, type Asking, type Form } from "./forms";
import { SideBySide } from "./side-by-side";
import { useDecision } from "./use-decision";
import { useExisting } from "./use-existing";

const EXPLAINED: Readonly<Record<Form, string>> = {
  active: t.onReplace,
  archived: t.onRestore,
  processing: "",
  failed: t.onRevert,
  gone: t.gone,
};

/** One file whose name is taken. What is already here decides which buttons there are; Cancel changes nothing. */
export function DuplicateDocumentModal({ item, waiting, number, all }: { item: Asking; waiting: readonly Asking[]; number: number; all: number }) {
  const existing = useExisting(item);
  const { form, document } = existing;
  const kb = useKnowledgeBase(item.kbId).data;
  const isManager = kb !== undefined && mayManage(kb.role);
  const [isSure, setSure] = useState(false);
  const [isForRest, setForRest] = useState(false);
  const equals = equalsOf(item, form, waiting);
  const rest = isForRest ? equals : [];
  const { decide, cancel, isBusy, error } = useDecision(item, rest);
  const cancelButton = useRef<HTMLButtonElement>(null);
  const primaryButton = useRef<HTMLButtonElement>(null);
  const acts = actsOf(form, { mayManage: isManager, canRevert: existing.canRevert });
  const isConfirming = isSure && acts.includes("replace");
  // The safe button, whenever the question is another one.
  useEffect(() => cancelButton.current?.focus(), [isConfirming]);

  if (isConfirming) {
    return (
      <Dialog
        isOpen
        onClose={cancel}
        width={560}
        above={<ConfirmSteps />}
        title={t.confirm.question}
        focusFirst={cancelButton}
        foot={
          <>
            <Button kind="bare" icon="left" className="mr-auto" onClick={() => setSure(false)}>
              {t.confirm.back}
            </Button>
            <Button ref={cancelButton} onClick={cancel}>
              {common.cancel}
            </Button>
            <Button kind="wax" onClick={() => void decide("replace")}>
              {t.confirm.replace}
            </Button>
          </>
        }
      >
        <p className="mb-2 text-14 text-ink [overflow-wrap:anywhere]">
          <bdi>{item.file.name}</bdi>
        </p>
        <p>{t.confirm.stays}</p>
        {rest.length > 0 && <p className="mt-1">{t.confirm.rest(formatCount(rest.length))}</p>}
      </Dialog>
    );
  }

  return (
    <Dialog
      isOpen
      onClose={cancel}
      width={560}
      title={t.title}
      above={all > 1 && <p className="mb-2 text-12 text-ink-3">{t.ofSeveral(formatCount(number), formatCount(all))}</p>}
      focusFirst={form === "archived" && isManager ? primaryButton : cancelButton}
      foot={
        <>
          {equals.length > 0 && (
            <span className="mr-auto text-ink max-md:w-full">
              <CheckboxField checked={isForRest} onChange={(event) => setForRest(event.target.checked)}>
                {t.forTheRest(formatCount(equals.length))}
              </CheckboxField>
            </span>
          )}
          <Button ref={cancelButton} onClick={cancel}>
            {common.cancel}
          </Button>
          {acts.map((act, index) => (
            <Button
              key={act}
              ref={index === acts.length - 1 ? primaryButton : undefined}
              kind={index === acts.length - 1 ? "primary" : "plain"}
              icon={act === "revert" ? "undo" : undefined}
              isBusy={isBusy}
              onClick={() => (act === "replace" ? setSure(true) : void decide(act))}
            >
              {wordOf(act, form)}
            </Button>
          ))}
        </>
      }
    >
      <p className="mb-3 flex items-start gap-2 text-14 text-ink [overflow-wrap:anywhere]">
        <Icon name="document" className="mt-0.5 text-ink-3" />
        <bdi>{item.file.name}</bdi>
      </p>
      {document && form !== "gone" ? <SideBySide existing={document} file={item.file} /> : form !== "gone" && <Waiting />}
      {document && form !== "gone" && <p className="mt-3 font-semibold text-ink">{differenceOf(document, item.file, existing.hash)}</p>}
      {form === "processing" && <Banner className="mt-3" title={t.whileProcessing} />}
      {form !== "processing" && (isManager || form === "gone" ? explained(form, existing.canRevert) : kb && <Banner className="mt-3" title={t.notYours} />)}
      {error !== null && <Refusal error={error} />}
    </Dialog>
  );
}

function explained(form: Form, canRevert: boolean) {
  const words = form === "failed" && !canRevert ? t.onReplace : EXPLAINED[form];
  return <p className="mt-1">{words}</p>;
}

/** The server's own words; where an active document has the name, what to do about it. */
function Refusal({ error }: { error: unknown }) {
  const { title, text } = sentencesOf(error);
  return <Banner tone="failed" className="mt-3" title={title} text={error instanceof NameTaken ? t.onCollision : text} />;
}

function Waiting() {
  return (
    <Skeleton className="grid gap-3 py-2">
      {["60%", "45%", "52%", "38%"].map((width) => (
        <Bone key={width} width={width} />
      ))}
      <span className="sr-only">{t.loading}</span>
    </Skeleton>
  );
}
