/** `live` for components. */
import { useEffect, useRef, useSyncExternalStore } from "react";

import { live, type LiveEvent, type LiveState, type Progress } from "./live";

/** Calls the newest `handler` for every event of the stream. */
export function useLiveEvents(handler: (event: LiveEvent) => void): void {
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  useEffect(() => live.listen((event) => latest.current(event)), []);
}

const watch = (watcher: () => void) => live.watch(watcher);

/** Where an unfinished document stands; undefined for one that rests. */
export function useProgress(documentId: string): Progress | undefined {
  return useSyncExternalStore(
    watch,
    () => live.progressOf(documentId),
    () => undefined,
  );
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    watch,
    () => live.state,
    () => "closed",
  );
}
