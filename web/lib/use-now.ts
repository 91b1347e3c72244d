/** One clock for the page: a hundred rows with times cost one timer. */
import { useSyncExternalStore } from "react";

const EVERY_MS = 30_000;

let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

function watch(watcher: () => void): () => void {
  if (watchers.size === 0) {
    now = new Date();
    timer = setInterval(() => {
      now = new Date();
      for (const each of [...watchers]) each();
    }, EVERY_MS);
  }
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) clearInterval(timer);
  };
}

/** Never more than half a minute behind. */
export function useNow(): Date {
  return useSyncExternalStore(
    watch,
    () => now,
    () => now,
  );
}
