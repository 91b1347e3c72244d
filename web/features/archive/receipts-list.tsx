"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { SheetBar, SheetFoot, SheetHead } from "@/components/shell/sheet-head";
import { Empty } from "@/components/ui/empty";
import { Failure } from "@/components/ui/failure";
import { Name } from "@/components/ui/name";
import { Pager } from "@/components/ui/pager";
import { LoadingBar, SkeletonRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { Actor } from "@/features/people/actor";
import { keys, listReceipts, type ReceiptListed } from "@/lib/api";
import type { Change } from "@/lib/url-state";
import { archive as t } from "@/text";

import { KbPick } from "./archive-bar";
import type { ArchiveState } from "./archive-view";

/** All receipts, the newest first, also of knowledge bases that are gone. */
export function ReceiptsList({ state, change }: { state: ArchiveState; change: Change<ArchiveState> }) {
  const query = { page: state.page, limit: state.limit, ...(state.kb ? { kb_id: state.kb } : {}) };
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: keys.receipts(query),
    queryFn: ({ signal }) => listReceipts(query, signal),
    placeholderData: keepPreviousData,
  });
  const open = (receipt: ReceiptListed) => change({ receipt: receipt.id, page: state.page });
  return (
    <>
      <SheetHead title={t.receipts.title} crumbs={[{ href: "/archive", label: t.title }]} facts={data && t.receipts.facts(data.total)} />
      <SheetBar>
        <KbPick value={state.kb} onChoose={(kb) => change({ kb })} />
      </SheetBar>
      <LoadingBar isOn={isFetching && data !== undefined} />
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows />}
      {data?.items.length === 0 && <Empty icon="seal" title={t.receipts.emptyTitle} text={t.receipts.emptyText} />}
      {data && data.items.length > 0 && (
        <>
          <Table receipts={data.items} onOpen={open} />
          <SheetFoot>
            <Pager page={state.page} limit={state.limit} total={data.total} onPage={(page) => change({ page })} />
          </SheetFoot>
        </>
      )}
    </>
  );
}

function Table({ receipts, onOpen }: { receipts: readonly ReceiptListed[]; onOpen: (receipt: ReceiptListed) => void }) {
  const { data: kbs } = useKnowledgeBases();
  const kbName = (id: string) => kbs?.items.find((kb) => kb.id === id)?.name ?? t.receipts.goneKb;
  const c = t.receipts.columns;
  return (
    <table className="register">
      <colgroup>
        <col />
        <col className="w-[150px]" />
        <col className="w-[20%]" data-from="lg" />
        <col className="w-[22%]" data-from="lg" />
        <col className="w-[130px]" />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">{c.name}</th>
          <th scope="col">{c.move}</th>
          <th scope="col" data-from="lg">
            {c.kb}
          </th>
          <th scope="col" data-from="lg">
            {c.by}
          </th>
          <th scope="col">{c.at}</th>
        </tr>
      </thead>
      <tbody>
        {receipts.map((receipt) => (
          <tr role="row" key={receipt.id}>
            <td role="cell" data-cell="name">
              <button
                type="button"
                aria-label={t.receipts.open(receipt.document_name)}
                onClick={() => onOpen(receipt)}
                className="flex min-h-6 w-full min-w-0 items-center text-left hover:underline hover:decoration-petrol-line"
              >
                <Name name={receipt.document_name} />
              </button>
            </td>
            <td role="cell" data-cell="status">
              {t.receipts.moves[receipt.move] ?? receipt.move}
            </td>
            <td role="cell" data-from="lg">
              <bdi>{kbName(receipt.kb_id)}</bdi>
            </td>
            <td role="cell" data-from="lg">
              <Actor id={receipt.by} />
            </td>
            <td role="cell" data-cell="fact">
              <Time at={receipt.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
