"use client";

import type { RefObject } from "react";

import { useKeys, type KeyBinding } from "@/components/shell/keys";
import type { ArchivedDocument } from "@/lib/api";
import { archive as t } from "@/text";

import type { Selection } from "./use-selection";

/** Row by row with J and K, R restores, X selects. No key purges. */
export function useArchiveKeys({
  documents,
  field,
  selection,
  onRestore,
  isOff,
}: {
  documents: readonly ArchivedDocument[];
  field: RefObject<HTMLInputElement | null>;
  selection: Selection;
  onRestore: (document: ArchivedDocument) => void;
  /** A dialog is open. */
  isOff: boolean;
}): void {
  const current = () => documents.findIndex((document) => document.id === focusedRow()?.dataset.id);
  const move = (by: 1 | -1) => {
    const rows = [...window.document.querySelectorAll<HTMLElement>("tr[data-id]")];
    rows[Math.min(rows.length - 1, Math.max(0, current() + by))]?.querySelector<HTMLElement>("[data-row-link]")?.focus();
  };
  const onCurrent = (act: (document: ArchivedDocument) => void) => () => {
    const document = documents[current()];
    if (document) act(document);
  };
  const bindings: KeyBinding[] = [
    { keys: "/", does: t.keys.find, run: () => field.current?.focus() },
    { keys: "j", does: t.keys.down, run: () => move(1) },
    { keys: "ArrowDown", run: () => move(1) },
    { keys: "k", does: t.keys.up, run: () => move(-1) },
    { keys: "ArrowUp", run: () => move(-1) },
    { keys: "r", does: t.keys.restore, run: onCurrent(onRestore) },
    { keys: "x", does: t.keys.select, run: onCurrent(selection.toggle) },
    { keys: ".", does: t.keys.menu, run: () => focusedRow()?.querySelector<HTMLElement>("[data-row-menu]")?.click() },
    { keys: "Escape", does: t.keys.clear, run: selection.clear },
  ];
  useKeys(isOff ? [] : bindings);
}

const focusedRow = (): HTMLElement | null => window.document.activeElement?.closest<HTMLElement>("tr[data-id]") ?? null;
