"use client";

import type { Ref } from "react";

import { SheetBar } from "@/components/shell/sheet-head";
import { DateRange } from "@/components/ui/date-range";
import { Pick } from "@/components/ui/pick";
import { SearchField } from "@/components/ui/search-field";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { mayManage } from "@/features/session/rights";
import { formatCount } from "@/lib/format";
import type { Change } from "@/lib/url-state";
import { archive as t } from "@/text";

import { isFiltered, type ArchiveState } from "./archive-view";

/** Find, knowledge base, days. How many match stands at the right, where nothing moves. */
export function ArchiveBar({
  state,
  change,
  count,
  field,
}: {
  state: ArchiveState;
  change: Change<ArchiveState>;
  count: number | undefined;
  field: Ref<HTMLInputElement>;
}) {
  return (
    <SheetBar>
      <SearchField ref={field} label={t.find} value={state.q} onSearch={(q) => change({ q }, { replace: true })} boxClass="w-full md:w-[264px]" />
      <KbPick value={state.kb} onChoose={(kb) => change({ kb })} />
      <DateRange label={t.archivedRange} from={state.from} to={state.to} onChange={(range) => change(range)} />
      <span role="status" className="ml-auto text-13 text-ink-3">
        {isFiltered(state) && count !== undefined ? t.match(formatCount(count)) : ""}
      </span>
    </SheetBar>
  );
}

/** Only those whose archive one sees. */
export function KbPick({ value, onChoose }: { value: string; onChoose: (kbId: string) => void }) {
  const { data } = useKnowledgeBases();
  const mine = (data?.items ?? []).filter((kb) => mayManage(kb.role));
  return (
    <Pick
      label={t.knowledgeBase}
      value={value}
      none=""
      onChoose={onChoose}
      choices={[{ value: "", label: t.all }, ...mine.map((kb) => ({ value: kb.id, label: kb.name }))]}
    />
  );
}
