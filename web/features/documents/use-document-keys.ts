"use client";

import { useKeys, type KeyBinding } from "@/components/shell/keys";
import type { Document } from "@/lib/api";
import { documents } from "@/text";

import { useGoTo } from "./document-actions-menu";
import type { RowActions } from "./row-actions";

const t = documents.keys;

interface Given {
  rows: readonly Document[];
  actions: RowActions;
  mayManage: boolean;
  hasSelection: boolean;
  onArchiveSelected: () => void;
  onClearSelection: () => void;
  onFilter: () => void;
  /** Null for those who may not. */
  onUpload: (() => void) | null;
  onUndo: () => void;
}

/** The row that has the focus, wherever in it. */
function currentIndex(rows: readonly Document[]): number {
  const id = document.activeElement?.closest("tr[data-id]")?.getAttribute("data-id");
  return rows.findIndex((row) => row.id === id);
}

function focusRow(row: Document | undefined): void {
  if (!row) return;
  const link = document.querySelector<HTMLElement>(`tr[data-id="${CSS.escape(row.id)}"] [data-cell="name"] a`);
  link?.focus({ preventScroll: true });
  link?.scrollIntoView({ block: "nearest" });
}

/** J K X . A D E U / Z Esc. Enter is the link's own. */
export function useDocumentKeys(given: Given): void {
  const { rows, actions, mayManage, hasSelection } = given;
  const { download } = useGoTo();
  const move = (by: number) => () => {
    const index = currentIndex(rows);
    focusRow(rows[index < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, index + by))]);
  };
  const here = (run: (row: Document) => void) => () => {
    const row = rows[currentIndex(rows)];
    if (row) run(row);
  };
  const extend = (by: number) => () => {
    const from = rows[currentIndex(rows)];
    move(by)();
    const to = rows[currentIndex(rows)];
    if (!from || !to || !mayManage) return;
    actions.toggle(from.id, false);
    actions.toggle(to.id, true);
  };
  const select = here((row) => actions.toggle(row.id, false));
  const bindings: (KeyBinding | false)[] = [
    { keys: "j", does: t.next, run: move(1) },
    { keys: "ArrowDown", run: move(1) },
    { keys: "k", does: t.previous, run: move(-1) },
    { keys: "ArrowUp", run: move(-1) },
    { keys: ".", does: t.menu, run: here((row) => actions.setMenu(row.id)) },
    { keys: "Shift+F10", run: here((row) => actions.setMenu(row.id)) },
    { keys: "e", does: t.explain, run: here((row) => actions.run("explain", row)) },
    { keys: "d", does: t.download, run: here(download) },
    { keys: "/", does: t.filter, run: given.onFilter },
    mayManage && { keys: "x", does: t.select, run: select },
    mayManage && { keys: "Shift+ArrowDown", does: t.extend, run: extend(1) },
    mayManage && { keys: "Shift+ArrowUp", run: extend(-1) },
    mayManage && {
      keys: "a",
      does: t.archive,
      run: hasSelection ? given.onArchiveSelected : here((row) => row.status === "completed" && actions.run("archive", row)),
    },
    mayManage && { keys: "z", does: t.undo, run: given.onUndo },
    hasSelection && { keys: "Escape", does: t.clear, run: given.onClearSelection },
    given.onUpload !== null && { keys: "u", does: t.upload, run: given.onUpload },
  ];
  useKeys(bindings.filter((binding) => binding !== false));
}
