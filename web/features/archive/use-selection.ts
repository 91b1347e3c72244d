"use client";

import { useMemo, useState } from "react";

import type { ArchivedDocument } from "@/lib/api";

/** Which documents are ticked, over all pages and filters: the dialog needs their names when they are out of sight. */
export function useSelection() {
  const [chosen, setChosen] = useState<ReadonlyMap<string, ArchivedDocument>>(new Map());
  return useMemo(() => {
    const change = (documents: readonly ArchivedDocument[], isOn: boolean) =>
      setChosen((before) => {
        const after = new Map(before);
        for (const document of documents) isOn ? after.set(document.id, document) : after.delete(document.id);
        return after;
      });
    return {
      all: [...chosen.values()],
      has: (document: ArchivedDocument) => chosen.has(document.id),
      change,
      toggle: (document: ArchivedDocument) => change([document], !chosen.has(document.id)),
      clear: () => setChosen(new Map()),
    };
  }, [chosen]);
}

export type Selection = ReturnType<typeof useSelection>;
