"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { getDocument, keys, listEvents, type ArchivedDocument } from "@/lib/api";
import { formatCount, formatSize } from "@/lib/format";
import { archive as t } from "@/text";

import { placeOf } from "./use-archive";

/** Two lists side by side. Only figures that the server has given; what it has not is left out. */
export function WhatGoes({ documents }: { documents: readonly ArchivedDocument[] }) {
  const [only] = documents;
  return (
    <div className="grid gap-x-7 gap-y-4 md:grid-cols-2">{only && documents.length === 1 ? <OfOne document={only} /> : <OfMany documents={documents} />}</div>
  );
}

function OfOne({ document }: { document: ArchivedDocument }) {
  const { data } = useQuery({ queryKey: keys.document(document.id), queryFn: ({ signal }) => getDocument(placeOf(document), signal) });
  const lines = useQuery({
    queryKey: keys.events({ document_id: document.id, limit: 1 }),
    queryFn: ({ signal }) => listEvents({ document_id: document.id, limit: 1 }, signal),
  });
  const copy = data?.paperless_doc_url;
  return (
    <>
      <List title={t.purge.goes} isWax>
        <Line label={t.purge.original}>{t.purge.file(formatSize(document.file_size))}</Line>
        {data?.total_pages != null && <Line label={t.purge.pages}>{formatCount(data.total_pages)}</Line>}
        <Line label={t.purge.passages}>{t.purge.allOfThem}</Line>
      </List>
      <List title={t.purge.stays}>
        {copy && isWebAddress(copy) && (
          <Line label={t.purge.paperless}>
            <a href={copy} target="_blank" rel="noreferrer">
              {t.purge.paperlessLink}
            </a>
          </Line>
        )}
        {lines.data && <Line label={t.purge.auditLines}>{formatCount(lines.data.total)}</Line>}
        <Line label={t.purge.receipt}>{t.purge.receiptForYou}</Line>
      </List>
    </>
  );
}

function OfMany({ documents }: { documents: readonly ArchivedDocument[] }) {
  const bytes = documents.reduce((sum, document) => sum + document.file_size, 0);
  return (
    <>
      <List title={t.purge.goes} isWax>
        <Line label={t.purge.originals}>{t.purge.files(documents.length, formatSize(bytes))}</Line>
        <Line label={t.purge.pages}>{t.purge.allOfThem}</Line>
        <Line label={t.purge.passages}>{t.purge.allOfThem}</Line>
      </List>
      <List title={t.purge.stays}>
        <Line label={t.purge.paperlessCopies}>{t.purge.paperlessIfAny}</Line>
        <Line label={t.purge.auditLines}>{t.purge.allOfThem}</Line>
        <Line label={t.purge.receipt}>{t.purge.receiptEach}</Line>
      </List>
    </>
  );
}

function List({ title, isWax = false, children }: { title: string; isWax?: boolean; children: ReactNode }) {
  return (
    <section>
      <h3 className={`border-b border-line-2 pb-1 text-12 font-semibold ${isWax ? "text-wax" : "text-ink-2"}`}>{title}</h3>
      <dl>{children}</dl>
    </section>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex items-center justify-between gap-3 border-b border-line py-[5px] text-13 last:border-0">
      <dt className="text-ink-3">{label}</dt>
      <dd className="text-right text-ink">{children}</dd>
    </div>
  );
}

/** An address that a server wrote down for us is followed only where it leads to a page. */
const isWebAddress = (address: string): boolean => /^https?:\/\//i.test(address);
