"use client";

import { useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Field } from "@/components/ui/field";
import { Progress } from "@/components/ui/progress";
import { showToast } from "@/components/ui/toast-store";
import type { KnowledgeBase } from "@/lib/api";
import { common, knowledgeBases } from "@/text";

import { documentsOf } from "./counts";
import { useRefreshKnowledgeBases } from "./use-knowledge-base-changes";
import { useRemoval, type Removing } from "./use-removal";

const t = knowledgeBases.removal;

/** Removes it, with everything in it once the word was typed. */
export function RemoveDialog({ kb, onClose, onRemoved }: { kb: KnowledgeBase; onClose: () => void; onRemoved?: () => void }) {
  const [typed, setTyped] = useState("");
  const cancel = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const refresh = useRefreshKnowledgeBases();
  const count = documentsOf(kb);
  const [removing, run] = useRemoval(kb, () => {
    showToast({ text: t.removed(kb.name), icon: "trash" });
    void refresh();
    onClose();
    onRemoved?.();
  });
  const close = () => {
    void refresh();
    onClose();
  };
  const isRunning = removing.state === "running";
  const isAllowed = count === 0 || typed === t.typeWord;
  const act = count === 0 ? t.emptyAction : removing.state === "halted" && removing.left ? t.goOn : t.action;
  return (
    <Dialog
      isOpen
      onClose={close}
      title={<bdi>{count === 0 ? t.emptyQuestion(kb.name) : t.question(kb.name, count)}</bdi>}
      focusFirst={count === 0 ? cancel : field}
      foot={
        <>
          <Button ref={cancel} onClick={close}>
            {isRunning ? common.close : common.cancel}
          </Button>
          <Button kind="wax" disabled={!isAllowed} isBusy={isRunning} onClick={() => void run()}>
            {act}
          </Button>
        </>
      }
    >
      {count === 0 ? <p>{t.emptyText}</p> : <Consequences />}
      {count > 0 && removing.state === "asking" && (
        <div className="mt-4">
          <Field
            ref={field}
            label={
              <>
                {t.type} <span className="font-proof">{t.typeWord}</span> {t.toGoOn}
              </>
            }
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={(event) => event.key === "Enter" && isAllowed && void run()}
            className="font-proof"
          />
        </div>
      )}
      {count > 0 && <State removing={removing} count={count} />}
      {count === 0 && removing.state === "halted" && <Banner tone="failed" className="mt-3" {...sentencesOf(removing.error)} />}
    </Dialog>
  );
}

function Consequences() {
  return (
    <dl className="grid gap-2 text-13">
      <dt className="font-semibold text-ink">{t.goes}</dt>
      <dd>{t.goesText}</dd>
      <dt className="font-semibold text-ink">{t.stays}</dt>
      <dd>{t.staysText}</dd>
    </dl>
  );
}

function State({ removing, count }: { removing: Removing; count: number }) {
  if (removing.state === "asking") return null;
  const { left } = removing;
  const remaining = left?.remaining ?? count;
  return (
    <div className="mt-4 grid gap-3">
      <Progress label={t.progress} sent={1} read={(count - remaining) / count} tone={removing.state === "running" ? "busy" : "paused"} />
      <p role="status" className="text-13">
        {remaining > 0 ? t.remaining(remaining) : t.proving(left?.pending ?? 0)}
      </p>
      {removing.state === "halted" && <Halted removing={removing} />}
    </div>
  );
}

function Halted({ removing }: { removing: Extract<Removing, { state: "halted" }> }) {
  if (removing.error) return <Banner tone="failed" {...sentencesOf(removing.error)} />;
  const blocked = removing.left?.blocked_ids.length ?? 0;
  if (blocked > 0) return <Banner tone="warn" title={t.blocked(blocked)} text={t.blockedText} />;
  return <Banner tone="warn" title={t.stuck} text={t.stuckText} />;
}
