"use client";

import Link from "next/link";

import { buttonClass, Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { Icon } from "@/components/ui/icons";
import { useNameOf } from "@/features/people/use-names";
import { receiptUrl, type Receipt } from "@/lib/api";
import { formatCount, formatExactTime } from "@/lib/format";
import { archive as t, common } from "@/text";

import { factsOf, grouped, type ReceiptFacts } from "./receipt-record";

/** The counterpart with the indented edge: what was there, what a second look found, who, when, signed. */
export function ReceiptPaper({ receipt, onClose }: { receipt: Receipt; onClose: () => void }) {
  const facts = factsOf(receipt);
  const file = t.receipt.fileName(receipt.id);
  return (
    <div className="pt-2 text-13 text-ink">
      <div className="flex items-start justify-between gap-4">
        <div className="min-w-0">
          <p aria-hidden="true" className="text-12 font-semibold text-ink-3">
            {t.receipt.label}
          </p>
          <p className="font-doc text-16 font-semibold [overflow-wrap:anywhere]">
            <bdi>{facts.documentName}</bdi>
          </p>
        </div>
        <Icon name="seal" size={28} className="text-wax" strokeWidth={1.1} />
      </div>
      <Stores facts={facts} />
      <Kept facts={facts} />
      <Proof facts={facts} />
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <a href={receiptUrl(receipt.id)} download={file} className={buttonClass({ size: "small" })}>
          <Icon name="download" />
          {t.receipt.download}
        </a>
        <Link href={`/audit?document=${facts.documentId}`} className={buttonClass({ kind: "bare", size: "small" })}>
          {t.receipt.showAudit}
        </Link>
        <Button kind="bare" size="small" className="ml-auto" onClick={onClose}>
          {common.close}
        </Button>
      </div>
      <div className="mt-3 border-t border-line pt-2.5 text-12 text-ink-3">
        <p>{t.receipt.verify}</p>
        <p className="mt-1 flex flex-wrap items-center gap-2">
          <code className="min-w-0 flex-1 font-proof text-ink-2 [overflow-wrap:anywhere]">{t.receipt.command(file)}</code>
          <CopyButton size="small" value={t.receipt.command(file)}>
            {t.receipt.copyCommand}
          </CopyButton>
        </p>
      </div>
    </div>
  );
}

function Stores({ facts }: { facts: ReceiptFacts }) {
  return (
    <table className="mt-3 w-full [&_td]:border-t [&_td]:border-line [&_td]:py-1 [&_th]:pb-1 [&_th]:text-12 [&_th]:font-normal [&_th]:text-ink-3">
      <thead>
        <tr>
          <th scope="col" className="text-left">
            {t.receipt.store}
          </th>
          <th scope="col" className="text-right">
            {t.receipt.before}
          </th>
          <th scope="col" className="text-right">
            {t.receipt.after}
          </th>
        </tr>
      </thead>
      <tbody>
        {facts.stores.map((line) => (
          <tr key={line.store}>
            <td>{t.receipt.stores[line.store] ?? line.store}</td>
            <td className="text-right text-ink-2">{formatCount(line.before)}</td>
            <td className="text-right font-semibold">{formatCount(line.after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Kept({ facts }: { facts: ReceiptFacts }) {
  return (
    <div className="flex justify-between gap-4 border-t border-line py-1">
      <p>{t.receipt.kept}</p>
      <div className="text-right">
        {facts.kept.length === 0 && t.receipt.nothingKept}
        {facts.kept.map((kept, index) => (
          <p key={index} title={kept.reason}>
            {kept.url ? (
              <a href={kept.url} target="_blank" rel="noreferrer">
                {t.receipt.keptStores[kept.store] ?? kept.store}
              </a>
            ) : (
              (t.receipt.keptStores[kept.store] ?? kept.store)
            )}
          </p>
        ))}
      </div>
    </div>
  );
}

function Proof({ facts }: { facts: ReceiptFacts }) {
  const nameOf = useNameOf();
  const [start, end] = grouped(facts.signature);
  const at = facts.at ? formatExactTime(new Date(facts.at)) : "";
  return (
    <p className="mt-2 border-t border-line pt-2 font-proof text-12 leading-[18px] text-ink-3 [overflow-wrap:anywhere]">
      {t.receipt.audit(facts.seq === null ? common.none : formatCount(facts.seq), at)}
      <br />
      {t.receipt.by(nameOf(facts.by))} · {t.receipt.signature(start, end)}
      <br />
      {t.receipt.key(facts.keyId)}
    </p>
  );
}
