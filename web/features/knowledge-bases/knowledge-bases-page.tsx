"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useDeferredValue, useEffect } from "react";

import { Welcome } from "@/features/welcome/welcome";
import { SheetBar, SheetFoot, SheetHead } from "@/components/shell/sheet-head";
import { Button } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { Failure } from "@/components/ui/failure";
import { Input } from "@/components/ui/field";
import { Pager } from "@/components/ui/pager";
import { LoadingBar, PageSkeleton } from "@/components/ui/skeleton";
import { showToast } from "@/components/ui/toast-store";
import { keys, listKnowledgeBases, type KnowledgeBase } from "@/lib/api";
import { hrefOfKnowledgeBase, knowledgeBasesView } from "@/lib/hrefs";
import { useView } from "@/lib/url-state";
import { knowledgeBases as t } from "@/text";

import { documentsOf } from "./counts";
import { CreateDialog } from "./create-dialog";
import { KnowledgeBasesTable } from "./knowledge-bases-table";

const LIMIT = 50;

export function KnowledgeBasesPage() {
  const [view, change] = useView(knowledgeBasesView);
  const router = useRouter();
  const found = useFound(view.q, view.page);
  const only = useOnly(found.data?.items, found.data?.total, view);
  if (found.error) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data || only) return <PageSkeleton />;
  const { items, total } = found.data;
  const isEmpty = total === 0 && view.q === "";
  return (
    <>
      {isEmpty ? <Welcome /> : <Listed items={items} total={total} view={view} change={change} isStale={found.isPlaceholderData} />}
      {view.new && (
        <CreateDialog
          onClose={() => change({ new: false, page: view.page }, { replace: true })}
          onMade={(kb) => {
            showToast({ text: t.form.made(kb.name), icon: "check" });
            router.push(hrefOfKnowledgeBase(kb.id));
          }}
        />
      )}
    </>
  );
}

type State = (typeof knowledgeBasesView)["initial"];

function Listed({
  items,
  total,
  view,
  change,
  isStale,
}: {
  items: readonly KnowledgeBase[];
  total: number;
  view: State;
  change: (change: Partial<State>, options?: { replace?: boolean }) => void;
  isStale: boolean;
}) {
  const isOnePage = total <= LIMIT && view.q === "";
  return (
    <>
      <SheetHead
        title={t.title}
        facts={
          isOnePage
            ? t.facts(
                total,
                items.reduce((sum, kb) => sum + documentsOf(kb), 0),
              )
            : undefined
        }
        actions={
          <Button kind="primary" icon="plus" onClick={() => change({ new: true, page: view.page })}>
            {t.create}
          </Button>
        }
      />
      {(!isOnePage || items.length > 7) && (
        <SheetBar>
          <Input
            icon="search"
            type="search"
            aria-label={t.search}
            placeholder={t.search}
            value={view.q}
            onChange={(event) => change({ q: event.target.value }, { replace: true })}
            boxClass="w-full md:w-[260px]"
          />
        </SheetBar>
      )}
      <LoadingBar isOn={isStale} />
      {items.length > 0 ? (
        <KnowledgeBasesTable items={items} />
      ) : (
        <Empty icon="search" title={t.noMatch} text={<bdi>{view.q}</bdi>} action={<Button onClick={() => change({ q: "" })}>{t.clearFilter}</Button>} />
      )}
      {total > LIMIT && (
        <SheetFoot>
          <Pager page={view.page} limit={LIMIT} total={total} onPage={(page) => change({ page })} />
        </SheetFoot>
      )}
    </>
  );
}

function useFound(q: string, page: number) {
  const query = { search: useDeferredValue(q), page, limit: LIMIT };
  return useQuery({
    queryKey: keys.knowledgeBases(query),
    queryFn: ({ signal }) => listKnowledgeBases(query, signal),
    placeholderData: keepPreviousData,
  });
}

/** Whoever has one knowledge base means it: they go straight there, unless they asked for the list. */
function useOnly(items: readonly KnowledgeBase[] | undefined, total: number | undefined, view: State): KnowledgeBase | undefined {
  const router = useRouter();
  const isPlain = !view.all && !view.new && view.q === "" && view.page === 1;
  const only = isPlain && total === 1 ? items?.[0] : undefined;
  const id = only?.id;
  useEffect(() => {
    if (id) router.replace(hrefOfKnowledgeBase(id));
  }, [id, router]);
  return only;
}
