"use client";

import { useCallback, useEffect, useRef, useState } from "react";

import type { Document } from "@/lib/api";

/** As long as the toast offers Undo. */
const STAYS_MS = 10_000;

export interface Ghosts {
  all: ReadonlyMap<string, Document>;
  add: (documents: readonly Document[]) => void;
  remove: (ids: readonly string[]) => void;
}

/** Rows of what was just archived: they stay in their place, tinted, with Undo. */
export function useGhosts(): Ghosts {
  const [all, setAll] = useState<ReadonlyMap<string, Document>>(new Map());
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>());
  useEffect(() => {
    const running = timers.current;
    return () => running.forEach(clearTimeout);
  }, []);

  const remove = useCallback((ids: readonly string[]) => {
    setAll((before) => (ids.some((id) => before.has(id)) ? new Map([...before].filter(([id]) => !ids.includes(id))) : before));
  }, []);
  const add = useCallback(
    (documents: readonly Document[]) => {
      setAll((before) => new Map([...before, ...documents.map((document) => [document.id, document] as const)]));
      const timer = setTimeout(() => {
        timers.current.delete(timer);
        remove(documents.map(({ id }) => id));
      }, STAYS_MS);
      timers.current.add(timer);
    },
    [remove],
  );
  return { all, add, remove };
}
