"use client";

import Link from "next/link";
import type { ReactNode } from "react";

import { usePerson } from "@/features/session/signed-in";
import { Icon } from "@/components/ui/icons";
import type { KnowledgeBase } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { hrefOfKnowledgeBase } from "@/lib/hrefs";
import { common, knowledgeBases as t } from "@/text";

import { KnowledgeBaseActions } from "./knowledge-base-actions";

const NUMBERS = ["completed", "underway", "failed", "archived"] as const;

/** Every knowledge base with its counts by status. */
export function KnowledgeBasesTable({ items }: { items: readonly KnowledgeBase[] }) {
  return (
    <table className="register" role="table">
      <colgroup>
        <col />
        <col className="w-[104px]" />
        <col className="w-[104px]" />
        <col className="w-[80px]" />
        <col className="w-[90px]" />
        <col data-from="lg" className="w-[200px]" />
        <col className="w-[68px]" />
      </colgroup>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">
            {t.columns.name}
          </th>
          {NUMBERS.map((number) => (
            <th key={number} scope="col" role="columnheader" data-align="end">
              {t.columns[number]}
            </th>
          ))}
          <th scope="col" role="columnheader" data-from="lg">
            {t.columns.owner}
          </th>
          <th scope="col" role="columnheader">
            <span className="sr-only">{t.columns.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {items.map((kb) => (
          <Row key={kb.id} kb={kb} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ kb }: { kb: KnowledgeBase }) {
  const me = usePerson();
  const { counts } = kb;
  return (
    <tr role="row" className="md:[&>td]:h-[52px]">
      <td role="cell" data-cell="name">
        <Link href={hrefOfKnowledgeBase(kb.id)} className="gap-2.5">
          <Icon name="folder" className="text-ink-3" />
          <span className="min-w-0">
            <bdi className="block truncate font-medium">{kb.name}</bdi>
            {kb.description && <bdi className="block truncate text-12 text-ink-3 max-md:hidden">{kb.description}</bdi>}
          </span>
        </Link>
      </td>
      <Count value={counts.completed} />
      <Count value={counts.pending + counts.processing} className="text-st-processing" />
      <Count value={counts.failed} className="font-semibold text-wax" />
      <Count value={counts.archived} />
      <td role="cell" data-from="lg" title={kb.owner_email}>
        {kb.owner_id === me.id ? t.you : <bdi>{kb.owner_email}</bdi>}
        {t.youAre[kb.role] && <span className="block text-12 text-ink-3">{t.youAre[kb.role]}</span>}
      </td>
      <td role="cell" data-cell="status" className="md:hidden">
        <Summary kb={kb} />
      </td>
      <td role="cell" data-cell="menu">
        <KnowledgeBaseActions kb={kb} />
      </td>
    </tr>
  );
}

/** Zero is quiet. */
function Count({ value, className = "" }: { value: number; className?: string }) {
  return (
    <td role="cell" data-align="end">
      {value === 0 ? <span className="text-ink-3">{common.none}</span> : <span className={className}>{formatCount(value)}</span>}
    </td>
  );
}

/** The same figures as one line, for narrow screens. */
function Summary({ kb }: { kb: KnowledgeBase }) {
  const { counts } = kb;
  const parts: ReactNode[] = [
    counts.completed > 0 && t.counts.completed(formatCount(counts.completed)),
    counts.pending + counts.processing > 0 && t.counts.underway(formatCount(counts.pending + counts.processing)),
    counts.failed > 0 && (
      <span key="failed" className="font-semibold text-wax">
        {t.counts.failed(formatCount(counts.failed))}
      </span>
    ),
    counts.archived > 0 && t.counts.archived(formatCount(counts.archived)),
  ].filter(Boolean);
  if (parts.length === 0) return <span className="text-ink-3">{t.counts.none}</span>;
  return parts.flatMap((part, index) => (index === 0 ? [part] : [" · ", part]));
}
