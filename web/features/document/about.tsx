import type { ReactNode } from "react";

import { Size } from "@/components/ui/size";
import { Time } from "@/components/ui/time";
import { isWithoutVectors } from "@/features/documents/indexing";
import type { Document } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { common, document as text } from "@/text";

const t = text.about;

/** The facts of a document. */
export function About({ document }: { document: Document }) {
  return (
    <dl className="text-13">
      <Fact name={t.size}>
        <Size bytes={document.file_size} />
        {document.total_pages !== null && `, ${text.pageCount(document.total_pages)}`}
      </Fact>
      <Fact name={t.added}>
        <Time at={document.created_at} />
      </Fact>
      {document.uploaded_by_email && <Fact name={t.by}>{document.uploaded_by_email}</Fact>}
      <Fact name={t.type}>{common.documentTypes[document.document_type]}</Fact>
      {isWithoutVectors(document) && <Fact name={t.search}>{common.withoutVectors}</Fact>}
      <Fact name={t.revision}>{formatCount(document.revision)}</Fact>
      <Fact name={t.id}>
        <Proof value={document.id} />
      </Fact>
      <Fact name={t.hash}>
        <Proof value={document.sha256} />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-4 border-b border-line py-[5px]">
      <dt className="shrink-0 text-ink-3">{name}</dt>
      <dd className="min-w-0 text-right [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

/** Evidence: its two ends, all of it on hover. */
function Proof({ value }: { value: string }) {
  return (
    <span title={value} className="font-proof text-12 leading-[18px]">
      {`${value.slice(0, 6)}…${value.slice(-4)}`}
    </span>
  );
}
