"use client";

import { useQueries } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Button, ButtonLink } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Icon } from "@/components/ui/icons";
import { keys, type ArchivedDocument } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { archive as t, common } from "@/text";

import { archiveView } from "./archive-view";
import { countsOf, provenBy, type Fate, type Fates } from "./purge-run";
import { receiptsOf } from "./use-purge-run";

const LOOK_AGAIN_MS = 2_000;

/** What became of each. Those whose receipt follows get it here as soon as it is signed. */
export function PurgeResult({
  documents,
  fates,
  onClose,
  onReceipt,
}: {
  documents: readonly ArchivedDocument[];
  fates: Fates;
  onClose: () => void;
  onReceipt: (receiptId: string) => void;
}) {
  const proven = useFollowing(documents, fates);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={titleOf(fates)}
      foot={
        <>
          <ButtonLink href={archiveView.href("/archive", { receipts: true })} icon="seal" className="mr-auto" onClick={onClose}>
            {t.result.all}
          </ButtonLink>
          <Button kind="primary" onClick={onClose}>
            {common.close}
          </Button>
        </>
      }
    >
      <ul>
        {documents.map((document) => (
          <li key={document.id} className="flex items-start justify-between gap-4 border-b border-line py-2 text-13 last:border-0">
            <Outcome name={document.name} fate={proven.get(document.id) ?? { kind: "left" }} onReceipt={onReceipt} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function Outcome({ name, fate, onReceipt }: { name: string; fate: Fate; onReceipt: (receiptId: string) => void }) {
  const text = <bdi className="min-w-0 flex-1 text-ink [overflow-wrap:anywhere]">{name}</bdi>;
  if (fate.kind === "receipt") {
    return (
      <>
        {text}
        <button
          type="button"
          className="rounded-mark text-petrol underline decoration-petrol-line underline-offset-[3px]"
          aria-label={t.result.receiptOf(name)}
          onClick={() => onReceipt(fate.receiptId)}
        >
          {t.result.receipt}
        </button>
      </>
    );
  }
  if (fate.kind === "follows") {
    return (
      <>
        {text}
        <span className="text-ink-3" title={t.result.followsWhy}>
          {t.result.follows}
        </span>
      </>
    );
  }
  return (
    <>
      <Icon name="alert" className={`-mr-2 mt-px ${fate.kind === "failed" ? "text-wax" : "text-st-warn"}`} />
      {text}
      <Why>{fate.kind === "left" ? t.result.leftWhy : fate.why}</Why>
    </>
  );
}

const Why = ({ children }: { children: ReactNode }) => <span className="max-w-[50%] text-right text-ink-3 [overflow-wrap:anywhere]">{children}</span>;

function titleOf(fates: Fates): string {
  const { purged, skipped, failed, left } = countsOf(fates);
  return [
    t.result.purged(purged),
    ...(skipped ? [t.result.skipped(formatCount(skipped))] : []),
    ...(failed ? [t.result.failed(formatCount(failed))] : []),
    ...(left ? [t.result.left(formatCount(left))] : []),
  ].join(", ");
}

/** Asks for the receipts of those knowledge bases again and again, until none is missing. */
function useFollowing(documents: readonly ArchivedDocument[], fates: Fates): Fates {
  const waiting = documents.filter((document) => fates.get(document.id)?.kind === "follows");
  const kbIds = [...new Set(waiting.map((document) => document.kb_id))];
  const answers = useQueries({
    queries: kbIds.map((kbId) => ({
      queryKey: keys.receipts({ kb_id: kbId, limit: 100, of: "purge" }),
      queryFn: ({ signal }: { signal: AbortSignal }) => receiptsOf(kbId, signal),
      refetchInterval: (query: { state: { data: ReadonlyMap<string, string> | undefined } }) => {
        const isMissing = waiting.some((document) => document.kb_id === kbId && !query.state.data?.has(document.id));
        return isMissing && LOOK_AGAIN_MS;
      },
    })),
  });
  const receipts = new Map(answers.flatMap(({ data }) => [...(data ?? [])]));
  return new Map([...fates].map(([id, fate]) => [id, fate.kind === "follows" ? provenBy(receipts, id) : fate]));
}
