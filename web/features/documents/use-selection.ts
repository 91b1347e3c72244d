"use client";

import { useCallback, useMemo, useState } from "react";

export interface Selection {
  ids: ReadonlySet<string>;
  toggle: (id: string, options?: { isRange?: boolean }) => void;
  selectAll: (isOn: boolean) => void;
  clear: () => void;
}

const NONE: ReadonlySet<string> = new Set();

/** Only what is on the screen can be selected: nobody archives what they do not see. Another view begins with nothing. */
export function useSelection(rowIds: readonly string[], viewKey: string): Selection {
  const [state, setState] = useState({ viewKey, ids: NONE, last: null as string | null });
  const isCurrent = state.viewKey === viewKey;
  const ids = useMemo(() => {
    if (!isCurrent || state.ids.size === 0) return NONE;
    return new Set(rowIds.filter((id) => state.ids.has(id)));
  }, [isCurrent, state.ids, rowIds]);

  const toggle = useCallback(
    (id: string, { isRange = false }: { isRange?: boolean } = {}) =>
      setState((before) => {
        const chosen = new Set(before.viewKey === viewKey ? before.ids : NONE);
        const isOn = !chosen.has(id);
        for (const each of isRange ? between(rowIds, before.last, id) : [id]) {
          if (isOn || isRange) chosen.add(each);
          else chosen.delete(each);
        }
        return { viewKey, ids: chosen, last: id };
      }),
    [rowIds, viewKey],
  );
  const selectAll = useCallback((isOn: boolean) => setState({ viewKey, ids: isOn ? new Set(rowIds) : NONE, last: null }), [rowIds, viewKey]);
  const clear = useCallback(() => setState({ viewKey, ids: NONE, last: null }), [viewKey]);
  return { ids, toggle, selectAll, clear };
}

/** From the one that was chosen last to this one, in whichever direction. */
export function between(rowIds: readonly string[], last: string | null, id: string): readonly string[] {
  const from = last === null ? -1 : rowIds.indexOf(last);
  const to = rowIds.indexOf(id);
  if (from < 0 || to < 0) return [id];
  return rowIds.slice(Math.min(from, to), Math.max(from, to) + 1);
}
