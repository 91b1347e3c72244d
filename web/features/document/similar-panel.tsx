"use client";

import Link from "next/link";

import { Empty } from "@/components/ui/empty";
import { Failure } from "@/components/ui/failure";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import type { Document, DocumentPlace } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { hrefOfDocument } from "@/lib/hrefs";
import { document as text } from "@/text";

import { nameOf } from "./passage";
import { useSimilar } from "./use-history";

const t = text.similar;

/** Documents about the same, each with the passage that is nearest. */
export function SimilarPanel({ place, document }: { place: DocumentPlace; document: Document }) {
  const isCompleted = document.status === "completed";
  const { data, error, refetch } = useSimilar(place, isCompleted);
  const names = useKnowledgeBases().data?.items;
  if (!isCompleted) return <Empty title={t.none} text={t.notYet} />;
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <Skeleton className="flex flex-col gap-4 pt-2">
        {["80%", "60%", "72%"].map((width) => (
          <Bone key={width} width={width} />
        ))}
      </Skeleton>
    );
  }
  if (data.items.length === 0) return <Empty title={t.none} text={t.noneText} />;
  return (
    <ul className="flex flex-col">
      {data.items.map((hit) => (
        <li key={hit.document_id} className="border-b border-line py-2.5 first:pt-0">
          <Link
            href={hrefOfDocument({ kbId: hit.kb_id, documentId: hit.document_id }, { page: hit.page, at: nameOf(hit.snippet) })}
            className="font-semibold text-ink no-underline [overflow-wrap:anywhere] hover:underline"
          >
            <bdi>{hit.document_name}</bdi>
          </Link>
          <p className="text-12 text-ink-3">
            <bdi>{names?.find((kb) => kb.id === hit.kb_id)?.name}</bdi> <span className="font-proof">{t.page(formatCount(hit.page))}</span>
          </p>
          <p className="mt-1 line-clamp-3 font-doc text-14 text-ink-2 [overflow-wrap:anywhere]">{hit.snippet}</p>
        </li>
      ))}
    </ul>
  );
}
