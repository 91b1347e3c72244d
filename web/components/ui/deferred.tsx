"use client";

import { useEffect, useState, useSyncExternalStore, type ComponentType } from "react";

export interface Preloaded {
  preload: () => Promise<void>;
}

/**
 * A component whose code is not part of the first page: it comes when the page has nothing else to do, and at the latest
 * when it is shown. Unlike `React.lazy` it is shown at once where its code is there already, and asks again for code
 * that could not be fetched: a server that is away for a moment must not take the dialogs with it. Whoever waits to see
 * it is told by the error boundary: a menu that merely does not open looks broken.
 */
export function deferred<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> & Preloaded {
  let Loaded: ComponentType<Props> | null = null;
  let loading: Promise<void> | null = null;
  const watchers = new Set<() => void>();
  const watch = (watcher: () => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  };
  const fetchOnce = () => {
    loading ??= load().then(
      (component) => {
        Loaded = component;
        for (const watcher of [...watchers]) watcher();
      },
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  };
  const preload = () => fetchOnce().catch(() => undefined);
  function Deferred(props: Props) {
    const Shown = useSyncExternalStore(
      watch,
      () => Loaded,
      () => null,
    );
    const [failure, setFailure] = useState<{ error: unknown } | null>(null);
    useEffect(() => void fetchOnce().catch((error: unknown) => setFailure({ error })), []);
    if (failure) throw failure.error;
    return Shown && <Shown {...props} />;
  }
  all.push(preload);
  return Object.assign(Deferred, { preload });
}

const all: (() => Promise<void>)[] = [];

/** Fetches what was put off, one after the other. */
export async function preloadDeferred(): Promise<void> {
  for (const preload of all) await preload();
}
