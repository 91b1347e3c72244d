"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { explainDocument, listReceipts, purgeDocuments, type ArchivedDocument, type DocumentPlace } from "@/lib/api";
import { archive as t } from "@/text";

import { countDown } from "./countdown";
import { batchesOf } from "./purge-batches";
import { runPurge, type Fates } from "./purge-run";
import { refreshArchive } from "./use-archive";

export type PurgeRun = { state: "idle" } | { state: "running"; fates: Fates; secondsToWait: number | null } | { state: "done"; fates: Fates };

/** One purge of many documents, from the last confirmation to the result. Leaving the page stops it after the call that is under way. */
export function usePurgeRun() {
  const [run, setRun] = useState<PurgeRun>({ state: "idle" });
  const stop = useRef<AbortController | null>(null);
  const client = useQueryClient();
  useEffect(() => () => stop.current?.abort(), []);

  const start = async (documents: readonly ArchivedDocument[]) => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    const show = (change: { fates?: Fates; secondsToWait?: number | null }) => setRun((now) => (now.state === "running" ? { ...now, ...change } : now));
    setRun({ state: "running", fates: new Map(), secondsToWait: null });
    const fates = await runPurge(
      batchesOf(documents),
      {
        purge: purgeDocuments,
        receipts: receiptsOf,
        whyNot,
        wait: async (seconds, stopped) => {
          await countDown(seconds, (left) => show({ secondsToWait: left }), stopped);
          show({ secondsToWait: null });
        },
        onFates: (done) => {
          show({ fates: done });
          refreshArchive(client);
        },
      },
      signal,
    );
    setRun({ state: "done", fates });
  };
  return { run, start, stop: () => stop.current?.abort() };
}

/** The newest hundred of a knowledge base, which a call has just written. */
export async function receiptsOf(kbId: string, signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { items } = await listReceipts({ kb_id: kbId, limit: 100 }, signal);
  return new Map(items.map((receipt) => [receipt.document_id, receipt.id]));
}

async function whyNot(place: DocumentPlace): Promise<string | null> {
  const { moves, hand_over: handOver } = await explainDocument(place);
  if (handOver?.status === "pending") return t.result.handOver;
  return moves.find(({ move }) => move === "purge")?.reason ?? null;
}
