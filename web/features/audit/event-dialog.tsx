"use client";

import type { ReactNode } from "react";

import { Button, ButtonLink } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { archiveView } from "@/features/archive/archive-view";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { Actor } from "@/features/people/actor";
import { useNameOf } from "@/features/people/use-names";
import type { AuditEvent } from "@/lib/api";
import { formatCount, formatExactTime } from "@/lib/format";
import { hrefOfDocument } from "@/lib/hrefs";
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
          <span className="mr-auto flex flex-wrap gap-2">
            {event.document_id && (
              <ButtonLink href={auditView.href("/audit", { document: event.document_id })} onClick={onClose}>
                {t.event.onlyDocument}
              </ButtonLink>
            )}
            <Further event={event} />
          </span>
          <Button kind="primary" onClick={onClose}>
            {common.close}
          </Button>
        </>
      }
    >
      <dl className="grid gap-y-0 text-13">
        <Fact label={t.event.at}>{formatExactTime(new Date(event.at))}</Fact>
        <Fact label={t.event.actor}>
          <Actor id={event.actor} />
        </Fact>
        {event.address && (
          <Fact label={t.event.address} isProof>
            {event.address}
          </Fact>
        )}
        {event.kb_id && (
          <Fact label={t.event.kb} isProof={!kb}>
            {kb ? <bdi>{kb.name}</bdi> : event.kb_id}
          </Fact>
        )}
        {event.document_id && (
          <Fact label={t.event.document} isProof>
            {event.document_id}
          </Fact>
        )}
        {payloadFacts(event.payload, nameOf).map((fact) => (
          <Fact key={fact.label} label={fact.label} isProof={fact.isProof}>
            <bdi>{fact.value}</bdi>
          </Fact>
        ))}
        <Fact label={t.event.seal} isProof={event.seq !== null}>
          {event.seq === null ? t.notSealed : t.seal(formatCount(event.seq))}
        </Fact>
        <Fact label={t.event.id} isProof>
          {event.id}
        </Fact>
      </dl>
    </Dialog>
  );
}

/** To the document, or, where it was destroyed, to what it left. */
function Further({ event: { action, kb_id: kbId, document_id: documentId } }: { event: AuditEvent }) {
  if (!kbId || !documentId) return null;
  if (ENDINGS.has(action)) return <ButtonLink href={archiveView.href("/archive", { receipts: true, kb: kbId })}>{t.event.receipt}</ButtonLink>;
  return <ButtonLink href={hrefOfDocument({ kbId, documentId })}>{t.event.openDocument}</ButtonLink>;
}

const ENDINGS: ReadonlySet<string> = new Set(["document_purged", "document_cleared", "document_auto_cleared"]);

function Fact({ label, isProof = false, children }: { label: string; isProof?: boolean; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[minmax(96px,160px)_minmax(0,1fr)] gap-3 border-b border-line py-1.5 last:border-0">
      <dt className="text-ink-3">{label}</dt>
      <dd className={`[overflow-wrap:anywhere] text-ink ${isProof ? "font-proof text-12" : ""}`}>{children}</dd>
    </div>
  );
}
