"use client";

import { SheetFoot } from "@/components/shell/sheet-head";
import { Button } from "@/components/ui/button";
import { Pager } from "@/components/ui/pager";
import { Select } from "@/components/ui/select";
import { formatCount } from "@/lib/format";
import { PAGE_SIZES, type Change } from "@/lib/url-state";
import { common, documents as t } from "@/text";

import type { DocumentsState } from "./documents-view";

interface Props {
  state: DocumentsState;
  change: Change<DocumentsState>;
  total: number;
  selected: number;
  onArchive: () => void;
  onClear: () => void;
}

const ON_DOCK = "border-on-dock-2/40 bg-transparent text-on-dock hover:border-on-dock hover:bg-on-dock/10 focus-visible:outline-on-dock";

/** Count and pager; the dock with what can be done with a selection. The pager stays where it is. */
export function DocumentsFoot({ state, change, total, selected, onArchive, onClear }: Props) {
  const isDock = selected > 0;
  return (
    <SheetFoot isDock={isDock} label={t.selection.label}>
      {isDock ? (
        <>
          <strong className="font-semibold text-on-dock">{t.selection.count(formatCount(selected))}</strong>
          <Button
            icon="box"
            className="border-on-dock bg-on-dock font-semibold text-dock hover:bg-on-dock/90 focus-visible:outline-on-dock"
            onClick={onArchive}
          >
            {t.archiveSeveral.button(formatCount(selected))}
          </Button>
          <Button kind="bare" icon="close" className={`${ON_DOCK} border-transparent`} onClick={onClear}>
            {t.selection.clear}
          </Button>
        </>
      ) : (
        <Select
          aria-label={common.pager.perPage}
          value={String(state.limit)}
          choices={PAGE_SIZES.map((size) => ({ value: String(size), label: t.perPage(formatCount(size)) }))}
          onChoose={(chosen) => {
            const limit = PAGE_SIZES.find((size) => String(size) === chosen);
            if (limit) change({ limit });
          }}
        />
      )}
      <Pager page={state.page} limit={state.limit} total={total} onPage={(page) => change({ page })} className={isDock ? "max-md:hidden" : ""} />
    </SheetFoot>
  );
}
