/** What the page says in passing. At most three at once; the oldest makes way. */
import type { ReactNode } from "react";

import type { IconName } from "./icons";

export interface ToastContent {
  text: ReactNode;
  icon?: IconName;
  /** A failure is read aloud at once. Failures that need an act are banners, not toasts. */
  tone?: "status" | "alert";
  /** One way back or onwards: `{ label: "Undo", onSelect }`. */
  action?: { label: string; onSelect: () => void };
}

export interface ToastItem extends ToastContent {
  id: number;
  lastsMs: number;
}

const MOST = 3;
const WITH_ACTION_MS = 10_000;
const WITHOUT_MS = 6_000;

let items: readonly ToastItem[] = [];
let next = 1;
const watchers = new Set<() => void>();

function become(changed: readonly ToastItem[]): void {
  items = changed;
  for (const watcher of [...watchers]) watcher();
}

/** Shows it, and returns a function that takes it away. */
export function showToast(content: ToastContent): () => void {
  const item = { ...content, id: next++, lastsMs: content.action ? WITH_ACTION_MS : WITHOUT_MS };
  become([...items.slice(-(MOST - 1)), item]);
  return () => dismissToast(item.id);
}

export function dismissToast(id: number): void {
  become(items.filter((item) => item.id !== id));
}

export const toasts = {
  watch: (watcher: () => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  },
  all: () => items,
};
