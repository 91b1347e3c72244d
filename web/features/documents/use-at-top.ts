"use client";

import { useSyncExternalStore } from "react";

const NEAR = 24;

/** The sheet scrolls on wide screens, the window on narrow ones. */
function watch(watcher: () => void): () => void {
  document.addEventListener("scroll", watcher, { capture: true, passive: true });
  return () => document.removeEventListener("scroll", watcher, { capture: true });
}

const isAtTop = (): boolean => window.scrollY < NEAR && (document.getElementById("main")?.scrollTop ?? 0) < NEAR;

/** Whether the first row is in sight. */
export function useAtTop(): boolean {
  return useSyncExternalStore(watch, isAtTop, () => true);
}

export function scrollToTop(): void {
  document.getElementById("main")?.scrollTo({ top: 0 });
  window.scrollTo({ top: 0 });
}
