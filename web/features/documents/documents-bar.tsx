"use client";

import type { Ref } from "react";

import { SheetBar } from "@/components/shell/sheet-head";
import { Pick } from "@/components/ui/pick";
import { Segments } from "@/components/ui/tabs";
import type { StatusCounts } from "@/lib/api";
import { formatCount } from "@/lib/format";
import type { Change } from "@/lib/url-state";
import { common, documents as t } from "@/text";

import { STATUS_TABS, TYPES, type DocumentsState } from "./documents-view";
import { FilterField } from "./filter-field";

/** Tabs with counts left, name and type right. */
export function DocumentsBar({
  state,
  change,
  counts,
  filterRef,
}: {
  state: DocumentsState;
  change: Change<DocumentsState>;
  counts: StatusCounts;
  filterRef: Ref<HTMLInputElement>;
}) {
  const choices = STATUS_TABS.map((value) => ({
    value,
    label: value === "all" ? t.tabs.all : common.status[value],
    count: formatCount(value === "all" ? activeOf(counts) : counts[value]),
    isBad: value === "failed" && counts.failed > 0,
  }));
  const types = TYPES.map((value) => ({ value, label: value === "any" ? t.anyType : common.documentTypes[value] }));
  return (
    <SheetBar>
      <div className="min-w-0 max-lg:w-full lg:mr-auto">
        <Segments label={t.tabs.label} value={state.status} choices={choices} onChoose={(status) => change({ status })} />
      </div>
      <FilterField ref={filterRef} value={state.q} onFilter={(q) => change({ q }, { replace: true })} />
      <Pick label={t.type} value={state.type} choices={types} none="any" onChoose={(type) => change({ type })} />
    </SheetBar>
  );
}

/** All that this page lists: the archive is another one. */
export const activeOf = ({ pending, processing, completed, failed }: StatusCounts): number => pending + processing + completed + failed;
