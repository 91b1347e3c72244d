"use client";

import { Button, ButtonLink } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { formatList } from "@/lib/format";
import type { Change } from "@/lib/url-state";
import { archive as t, common } from "@/text";

import { isFiltered, NO_FILTERS, type ArchiveState } from "./archive-view";

/** Nothing there, nothing that matches, or a page behind the last one: each with the one thing to do about it. */
export function ArchiveEmpty({ state, change, total }: { state: ArchiveState; change: Change<ArchiveState>; total: number }) {
  const { data } = useKnowledgeBases();
  if (total > 0) return <Empty icon="box" title={t.noMatch.title} action={<Button onClick={() => change({ page: 1 })}>{common.pager.page("1")}</Button>} />;
  if (!isFiltered(state)) return <Empty icon="box" {...t.empty} action={<ButtonLink href="/">{t.toDocuments}</ButtonLink>} />;
  const kb = data?.items.find((one) => one.id === state.kb);
  const filters = [...(state.q ? [t.noMatch.name(state.q)] : []), ...(kb ? [t.noMatch.kb(kb.name)] : []), ...(state.from || state.to ? [t.noMatch.range] : [])];
  return (
    <Empty
      icon="search"
      title={t.noMatch.title}
      text={formatList(filters)}
      action={<Button onClick={() => change(NO_FILTERS)}>{common.clearFilters}</Button>}
    />
  );
}
