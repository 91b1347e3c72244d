"use client";

import { useState, type ReactNode } from "react";

import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { formatCount } from "@/lib/format";
import { NARROW, useMedia } from "@/lib/use-media";
import { common, search as t } from "@/text";

import { FilterPicks, type FilterProps } from "./filter-picks";
import { SavedSearches } from "./saved-searches";
import { filtersOf, WITHOUT_FILTERS } from "./search-view";

/** A row of pickers; on narrow screens a button with their number, behind which they are. `children` stand at its end. */
export function SearchFilters({ children, ...props }: FilterProps & { children: ReactNode }) {
  const isNarrow = useMedia(NARROW);
  const { state, change } = props;
  const count = filtersOf(state).length;
  const clear = () => change(WITHOUT_FILTERS);
  return (
    <div role="group" aria-label={t.filters} className="mt-2.5 flex min-w-0 flex-wrap items-center gap-2">
      <SavedSearches state={state} change={change} />
      {isNarrow ? <FilterSheet {...props} count={count} onClear={clear} /> : <FilterPicks {...props} />}
      {!isNarrow && count > 0 && (
        <Button kind="bare" onClick={clear}>
          {common.clearFilters}
        </Button>
      )}
      {children}
    </div>
  );
}

function FilterSheet({ count, onClear, ...props }: FilterProps & { count: number; onClear: () => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="filter" onClick={() => setOpen(true)} className={count > 0 ? "border-petrol! bg-petrol-soft!" : ""}>
        {count > 0 ? t.filtersOn(formatCount(count)) : t.filters}
      </Button>
      {isOpen && (
        <Dialog
          isOpen
          onClose={() => setOpen(false)}
          title={t.filters}
          foot={
            <>
              {count > 0 && <Button onClick={onClear}>{common.clearFilters}</Button>}
              <Button kind="primary" onClick={() => setOpen(false)}>
                {t.show}
              </Button>
            </>
          }
        >
          <div className="flex min-h-[290px] has-[[aria-controls][aria-expanded=true]]:min-h-[440px] flex-col items-start gap-2 pb-1 text-ink">
            <FilterPicks {...props} />
          </div>
        </Dialog>
      )}
    </>
  );
}
