/** Purging many: call by call, waiting where the server says so, until each document has met its fate. */
import { ApiError, isPassing, NotFound, TooManyRequests, type BulkPurged, type DocumentPlace } from "@/lib/api";
import { archive as t } from "@/text";

import type { Batch } from "./purge-batches";

export type Fate =
  | { kind: "receipt"; receiptId: string }
  /** Gone, and not proven yet. */
  | { kind: "follows" }
  | { kind: "skipped"; why: string }
  | { kind: "failed"; why: string }
  /** Not tried, because somebody stopped it before. */
  | { kind: "left" };

export type Fates = ReadonlyMap<string, Fate>;

/** What the run asks of the world. */
export interface PurgeWorld {
  purge: (kbId: string, documentIds: string[]) => Promise<BulkPurged>;
  /** By document, as far as they are signed. */
  receipts: (kbId: string) => Promise<ReadonlyMap<string, string>>;
  /** Why a document cannot be purged now. */
  whyNot: (place: DocumentPlace) => Promise<string | null>;
  /** Lets so many seconds pass, or returns early when it was stopped. */
  wait: (seconds: number, signal: AbortSignal) => Promise<void>;
  onFates?: (fates: Fates) => void;
}

export async function runPurge(batches: readonly Batch[], world: PurgeWorld, signal: AbortSignal): Promise<Fates> {
  const fates = new Map<string, Fate>();
  for (const batch of batches) {
    for (const [id, fate] of await purgeBatch(batch, world, signal)) fates.set(id, fate);
    world.onFates?.(new Map(fates));
  }
  return fates;
}

async function purgeBatch(batch: Batch, world: PurgeWorld, signal: AbortSignal): Promise<Fates> {
  const ids = batch.documents.map((document) => document.id);
  while (!signal.aborted) {
    try {
      return await fatesOf(batch, await world.purge(batch.kbId, ids), world);
    } catch (error) {
      if (!(error instanceof TooManyRequests)) return all(ids, { kind: "failed", why: reasonOf(error) });
      await world.wait(error.retryAfterSeconds, signal);
    }
  }
  return all(ids, { kind: "left" });
}

async function fatesOf({ kbId, documents }: Batch, done: BulkPurged, world: PurgeWorld): Promise<Fates> {
  const receipts = await world.receipts(kbId).catch(() => new Map<string, string>());
  const fates = new Map<string, Fate>();
  for (const { id } of documents) {
    if (done.skipped_ids.includes(id)) fates.set(id, { kind: "skipped", why: await whySkipped({ kbId, documentId: id }, world) });
    else if (done.failed_ids.includes(id)) fates.set(id, { kind: "failed", why: t.result.failedWhy });
    else fates.set(id, provenBy(receipts, id));
  }
  return fates;
}

/** What a document that is gone has to show for it. */
export function provenBy(receipts: ReadonlyMap<string, string>, documentId: string): Fate {
  const receiptId = receipts.get(documentId);
  return receiptId === undefined ? { kind: "follows" } : { kind: "receipt", receiptId };
}

async function whySkipped(place: DocumentPlace, world: PurgeWorld): Promise<string> {
  try {
    return (await world.whyNot(place)) ?? t.result.skippedWhy;
  } catch (error) {
    return error instanceof NotFound ? t.result.gone : t.result.skippedWhy;
  }
}

function reasonOf(error: unknown): string {
  if (isPassing(error)) return t.result.noAnswer; // the server may have done it
  return error instanceof ApiError ? error.message : t.result.failedWhy;
}

const all = (ids: readonly string[], fate: Fate): Fates => new Map(ids.map((id) => [id, fate]));

/** How many of each. A document whose receipt follows is purged. */
export function countsOf(fates: Fates): { purged: number; skipped: number; failed: number; left: number } {
  const count = (...kinds: readonly Fate["kind"][]) => [...fates.values()].filter((fate) => kinds.includes(fate.kind)).length;
  return { purged: count("receipt", "follows"), skipped: count("skipped"), failed: count("failed"), left: count("left") };
}
