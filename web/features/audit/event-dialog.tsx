"use client";

import type { ReactNode } from "react";

import { Button, ButtonLink } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { useNameOf } from "@/features/people/use-names";
import type { AuditEvent } from "@/lib/api";
import { formatCount, formatExactTime } from "@/lib/format";
import { audit as t, common } from "@/text";

import { auditView } from "./audit-view";
import { objectOf, payloadFacts, verbOf } from "./event-words";

/** One line with all that it holds: who, from where, and the details that were written down with it. */
export function EventDialog({ event, onClose }: { event: AuditEvent; onClose: () => void }) {
  const nameOf = useNameOf();
  const { data: kbs } = useKnowledgeBases();
  const kb = kbs?.items.find((one) => one.id === event.kb_id);
  const what = objectOf(event, nameOf);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      width={560}
      title={
        <>
          {verbOf(event.action)} {what && <bdi className="font-normal">{what}</bdi>}
        </>
      }
      foot={
        <>
          {event.document_id && (
            <ButtonLink href={auditView.href("/audit", { document: event.document_id })} className="mr-auto" onClick={onClose}>
              {t.event.onlyDocument}
            </ButtonLink>
          )}
          <Button kind="primary" onClick={onClose}>
            {common.close}
          </Button>
        </>
      }
    >
      <dl className="grid gap-y-0 text-13">
        <Fact label={t.event.at}>{formatExactTime(new Date(event.at))}</Fact>
        <Fact label={t.event.actor}>
          <bdi>{nameOf(event.actor)}</bdi>
        </Fact>
        {event.address && <Fact label={t.event.address} isProof>{event.address}</Fact>}
        {event.kb_id && <Fact label={t.event.kb} isProof={!kb}>{kb ? <bdi>{kb.name}</bdi> : event.kb_id}</Fact>}
        {event.document_id && <Fact label={t.event.document} isProof>{event.document_id}</Fact>}
        {payloadFacts(event.payload, nameOf).map((fact) => (
          <Fact key={fact.label} label={fact.label} isProof={fact.isProof}>
            <bdi>{fact.value}</bdi>
          </Fact>
        ))}
        <Fact label={t.event.seal} isProof={event.seq !== null}>{event.seq === null ? t.notSealed : t.seal(formatCount(event.seq))}</Fact>
        <Fact label={t.event.id} isProof>{event.id}</Fact>
      </dl>
    </Dialog>
  );
}

function Fact({ label, isProof = false, children }: { label: string; isProof?: boolean; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[minmax(96px,160px)_minmax(0,1fr)] gap-3 border-b border-line py-1.5 last:border-0">
      <dt className="text-ink-3">{label}</dt>
      <dd className={`[overflow-wrap:anywhere] text-ink ${isProof ? "font-proof text-12" : ""}`}>{children}</dd>
    </div>
  );
}
