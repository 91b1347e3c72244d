"use client";

import { usePathname } from "next/navigation";
import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 1119px)";

function watch(watcher: () => void): () => void {
  const media = window.matchMedia(NARROW);
  media.addEventListener("change", watcher);
  return () => media.removeEventListener("change", watcher);
}

/** Whether the sidebar shows icons only: on every page below 1120 px, and always beside the viewer, which needs the room. */
export function useRail(): { isForced: boolean; isRail: boolean } {
  const isForced = usePathname() === "/document";
  const isNarrow = useSyncExternalStore(
    watch,
    () => window.matchMedia(NARROW).matches,
    () => false,
  );
  return { isForced, isRail: isForced || isNarrow };
}
