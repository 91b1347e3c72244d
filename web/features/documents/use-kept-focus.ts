"use client";

import { useEffect, useRef } from "react";

/** A row that vanishes takes the focus with it: it goes to the one that took its place. */
export function useKeptFocus(rowIds: readonly string[]): void {
  const last = useRef<number | null>(null);
  useEffect(() => {
    const note = (event: FocusEvent) => {
      const row = event.target instanceof Element ? event.target.closest("tr[data-id]") : null;
      last.current =
        row instanceof HTMLTableRowElement
          ? row.sectionRowIndex
          : event.target instanceof Element && event.target.closest("[role=dialog],[role=menu]")
            ? last.current
            : null;
    };
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, []);
  useEffect(() => {
    if (last.current === null || (document.activeElement !== document.body && document.activeElement !== null)) return;
    const links = document.querySelectorAll<HTMLElement>('tr[data-id] [data-cell="name"] a');
    links[Math.min(last.current, links.length - 1)]?.focus({ preventScroll: true });
  }, [rowIds]);
}
