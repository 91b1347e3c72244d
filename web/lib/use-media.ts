"use client";

import { useSyncExternalStore } from "react";

/** Whether the window is below the two widths at which pages change their form. Wide, until the browser is known. */
export const NARROW = "(max-width: 767px)";
export const MEDIUM = "(max-width: 1119px)";

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", watcher);
      return () => media.removeEventListener("change", watcher);
    },
    () => window.matchMedia(query).matches,
    () => false,
  );
}
