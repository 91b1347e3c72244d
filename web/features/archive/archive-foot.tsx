"use client";

import { SheetFoot } from "@/components/shell/sheet-head";
import { IconButton } from "@/components/ui/button";
import { Icon } from "@/components/ui/icons";
import { Pager } from "@/components/ui/pager";
import { Pick } from "@/components/ui/pick";
import { formatCount } from "@/lib/format";
import { PAGE_SIZES, type Change } from "@/lib/url-state";
import { archive as t } from "@/text";

import type { ArchiveState } from "./archive-view";
import type { Selection } from "./use-selection";

/** Count and pager; with a selection the dark strip with the one act on many. The pager stays where it is. */
export function ArchiveFoot({
  state,
  change,
  total,
  selection,
  onPurge,
}: {
  state: ArchiveState;
  change: Change<ArchiveState>;
  total: number;
  selection: Selection;
  onPurge: () => void;
}) {
  const count = formatCount(selection.all.length);
  const pager = <Pager page={state.page} limit={state.limit} total={total} onPage={(page) => change({ page })} />;
  if (selection.all.length === 0) {
    return (
      <SheetFoot>
        <Pick
          label={t.rows}
          value={String(state.limit)}
          choices={PAGE_SIZES.map((size) => ({ value: String(size), label: String(size) }))}
          onChoose={(size) => change({ limit: PAGE_SIZES.find((known) => String(known) === size) ?? 20 })}
        />
        {pager}
      </SheetFoot>
    );
  }
  return (
    <SheetFoot isDock label={t.selection.label}>
      <span role="status" className="font-semibold text-on-dock">
        {t.selection.count(count)}
      </span>
      <button
        type="button"
        onClick={onPurge}
        className="inline-flex h-control items-center gap-2 rounded-control border border-on-dock/35 px-3 text-13 font-medium text-on-dock hover:bg-on-dock/15 focus-visible:outline-on-dock"
      >
        <Icon name="trash" />
        {t.selection.purge(count)}
      </button>
      {pager}
      <IconButton
        label={t.selection.clear}
        icon="close"
        tooltip={false}
        onClick={selection.clear}
        className="text-on-dock-2 hover:bg-on-dock/15 focus-visible:outline-on-dock"
      />
    </SheetFoot>
  );
}
