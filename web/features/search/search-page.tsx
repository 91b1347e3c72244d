"use client";

import { useRouter } from "next/navigation";
import { useMemo, useRef, useState } from "react";

import { useKeys } from "@/components/shell/keys";
import { useTitle } from "@/components/shell/sheet-head";
import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { Failure } from "@/components/ui/failure";
import { Bone, LoadingBar, Skeleton } from "@/components/ui/skeleton";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import type { SearchAnswer } from "@/lib/api";
import { formatCount, formatList } from "@/lib/format";
import { useView } from "@/lib/url-state";
import { MEDIUM, useMedia } from "@/lib/use-media";
import { useTyped } from "@/lib/use-typed";
import { common, search as t } from "@/text";

import { groupsOf, hrefOfHit } from "./groups";
import { Preview } from "./preview";
import { focusHit, Results } from "./results";
import { SearchField } from "./search-field";
import { SearchFilters } from "./search-filters";
import { filtersOf, MOST_HITS, queryOf, searchView, WITHOUT_FILTERS } from "./search-view";
import { useSearch } from "./use-search";

export function SearchPage() {
  const [state, change] = useView(searchView);
  const [typed, type, flush] = useTyped(state.q, (q) => change(q.trim() ? { q } : { q, saved: "" }, { replace: true }));
  const { data, error, isPlaceholderData, isFetching, refetch } = useSearch(state);
  const bases = useKnowledgeBases().data?.items ?? [];
  const kbNames = useMemo(() => new Map(bases.map((kb) => [kb.id, kb.name])), [bases]);
  const filters = filtersOf(state);
  const hasQuestion = queryOf(state) !== null;
  const groups = useMemo(() => groupsOf(hasQuestion ? (data?.items ?? []) : []), [data, hasQuestion]);
  const hits = useMemo(() => groups.flatMap((group) => group.hits), [groups]);
  const [chosen, setChosen] = useState<{ of: SearchAnswer | undefined; index: number }>({ of: undefined, index: 0 });
  const selected = chosen.of === data ? chosen.index : 0;
  const field = useRef<HTMLInputElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const router = useRouter();
  const isWide = !useMedia(MEDIUM);
  useTitle(state.q.trim() ? `${state.q.trim()} · ${t.title}` : t.title);

  const current = hits[selected]?.hit;
  useKeys([
    { keys: "/", does: t.keys.field, run: () => field.current?.focus() },
    { keys: "j", does: t.keys.next, run: () => focusHit(sheet.current, selected) },
    { keys: "k", does: t.keys.previous, run: () => focusHit(sheet.current, selected) },
    { keys: "ArrowDown", run: () => focusHit(sheet.current, selected) },
  ]);
  const enter = () => {
    // What stands in the list answers what is typed: open it. Otherwise ask first.
    if (current && typed === state.q && !isPlaceholderData) router.push(hrefOfHit(current, state.q.trim()));
    else flush();
  };

  return (
    <div ref={sheet} className="flex min-h-0 flex-1 flex-col">
      <div className="px-4 pt-4 pb-3 md:px-6 md:pt-[18px]">
        <h1 className="sr-only">{t.title}</h1>
        <SearchField field={field} typed={typed} onType={type} onEnter={enter} onDown={() => focusHit(sheet.current, 0)} />
        <SearchFilters state={state} change={change} knowledgeBases={bases}>
          <p role="status" className="text-12 text-ink-3 max-md:w-full md:ml-auto md:text-13">
            {data && hasQuestion && !error ? countOf(data, groups.length) : ""}
          </p>
        </SearchFilters>
      </div>
      <div className="border-t border-line" />
      <LoadingBar isOn={isFetching && data !== undefined} />
      <div className={`grid min-h-0 flex-1 ${isWide && current ? "grid-cols-[minmax(0,1fr)_400px]" : "grid-cols-[minmax(0,1fr)]"}`}>
        <div className="min-h-0 px-2 pb-8 md:overflow-auto md:px-4">
          {hasQuestion && data && state.mode !== "text" && data.mode === "text" && <KeywordsOnly hasUnknownLanguage={data.text_only_languages.length > 0} />}
          {hasQuestion && data && data.passages_without_vectors > 0 && (
            <p className="mx-2 mt-3 text-12 text-ink-3">{t.withoutVectors(data.passages_without_vectors)}</p>
          )}
          {!hasQuestion && <Empty icon="search" title={t.start.title} text={t.start.text} />}
          {hasQuestion && error && !data ? <Failure error={error} onRetry={() => void refetch()} /> : null}
          {hasQuestion && !data && !error && <ResultBones />}
          {hasQuestion && data && groups.length === 0 && (
            <Empty
              icon="search"
              title={t.none.title(state.q.trim())}
              text={filters.length > 0 ? t.none.filtered(formatList(filters.map((filter) => t.none.filters[filter]))) : t.none.text}
              action={filters.length > 0 && <Button onClick={() => change(WITHOUT_FILTERS)}>{common.clearFilters}</Button>}
            />
          )}
          {groups.length > 0 && (
            <Results
              groups={groups}
              q={state.q.trim()}
              kbNames={kbNames}
              selected={selected}
              onSelect={(index) => setChosen({ of: data, index })}
              onLeave={() => field.current?.focus()}
            />
          )}
        </div>
        {isWide && current && <Preview hit={current} q={state.q.trim()} />}
      </div>
    </div>
  );
}

function countOf({ items, took_ms: took }: SearchAnswer, documents: number): string {
  const found = items.length >= MOST_HITS ? t.best(items.length, documents) : t.found(items.length, documents);
  return items.length > 0 ? `${found}, ${t.took(formatCount(Math.max(1, Math.round(took))))}` : "";
}

function ResultBones() {
  return (
    <Skeleton className="flex flex-col gap-6 px-2 pt-5">
      {["45%", "60%", "38%", "52%"].map((width) => (
        <div key={width} className="flex flex-col gap-2.5">
          <Bone width={width} className="h-3.5" />
          <Bone width="94%" />
          <Bone width="78%" />
        </div>
      ))}
    </Skeleton>
  );
}

/** Why a search by meaning was answered by keywords. */
function KeywordsOnly({ hasUnknownLanguage }: { hasUnknownLanguage: boolean }) {
  if (hasUnknownLanguage) return <Banner tone="info" title={t.languageNotKnown} className="mx-2 mt-3" />;
  return <Banner tone="warn" title={t.wordsOnly} className="mx-2 mt-3" />;
}
