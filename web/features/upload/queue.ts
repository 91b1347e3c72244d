/**
 * Files on their way in: at most three requests at a time, the others in line. What breaks off because the server is away
 * is sent again when it is back; what the server refuses stays with its reason, and a person tries again.
 */
import { DuplicateDocument, isPassing, QueueFull, TooLarge, TooManyRequests, type DocumentType } from "@/lib/api";

import { hasArrived } from "./arrival";
import { AttemptLog } from "./attempts";
import { MOST_FILES, nextBatch, shareOf } from "./batches";
import { Gate } from "./gate";
import { ItemList } from "./item-list";
import type { UploadItem, UploadState } from "./item";
import type { Outcome, Sent, Transport } from "./transport";

const AT_ONCE = 3;
/** A connection that breaks so often while the server is there breaks because of the file. */
const MOST_BREAKS = 4;
const DONE_STAYS_MS = 6_000;

export interface QueueEvents {
  onStored?: (item: UploadItem, sent: Sent) => void;
}

export class UploadQueue {
  readonly #transport: Transport;
  readonly #events: QueueEvents;
  readonly #gate: Gate;
  readonly #list = new ItemList();
  readonly #attempts = new AttemptLog();
  readonly #requests = new Set<AbortController>();
  /** By file the request that carries it. */
  readonly #sending = new Map<number, AbortController>();
  /** Documents that files of this queue became: the next file of that name is a duplicate of theirs. */
  readonly #known = new Set<string>();
  #mostFiles = MOST_FILES;
  #nextId = 1;

  constructor(transport: Transport, events: QueueEvents = {}) {
    this.#transport = transport;
    this.#events = events;
    this.#gate = new Gate(
      () => transport.isThere(),
      () => this.#next(),
    );
  }

  readonly watch = (watcher: () => void): (() => void) => this.#list.watch(watcher);

  readonly items = (): readonly UploadItem[] => this.#list.items();

  readonly ofDocument = (documentId: string): readonly UploadItem[] => this.#list.ofDocument(documentId);

  /** How many of this round were done and have left the list. */
  get doneBefore(): number {
    return this.#list.doneBefore;
  }

  add(kbId: string, files: readonly File[], documentType: DocumentType): void {
    for (const file of files) this.#put({ kbId, file, documentType, replaces: null });
    this.#next();
  }

  /** Into the place of a document that is there. */
  replace(kbId: string, documentId: string, file: File): void {
    this.#put({ kbId, file, documentType: "other", replaces: documentId });
    this.#next();
  }

  #put(wanted: Pick<UploadItem, "kbId" | "file" | "documentType" | "replaces">): void {
    this.#list.set({ ...wanted, id: this.#nextId++, documentId: null, state: { kind: "queued" } });
  }

  /** Once more, from the beginning; as a replacement where a document is named. */
  again(id: number, { replaces }: { replaces?: string } = {}): void {
    const item = this.#list.get(id);
    if (!item) return;
    this.#attempts.forget(id);
    this.#list.set({ ...item, replaces: replaces ?? item.replaces, documentId: null, state: { kind: "queued" } });
    this.#next();
  }

  /** Not at all, or not shown any more. What is stored stays stored. */
  drop(id: number): void {
    this.#forget(id);
    this.#sending.get(id)?.abort();
    this.#next();
  }

  /** The server may be back. */
  readonly wake = (): void => this.#gate.wake();

  /** It can be found, or it cannot be read. */
  finish(id: number, failure: string | null, during: "reading" | "replacing" = "reading"): void {
    if (this.#list.get(id)?.state.kind !== "reading") return;
    this.#become(id, failure === null ? { kind: "done" } : { kind: "failed", during, reason: failure });
    if (failure === null) setTimeout(() => this.#list.get(id)?.state.kind === "done" && this.#forget(id, { wasDone: true }), DONE_STAYS_MS);
  }

  /** It is read once more. */
  reread(id: number): void {
    const state = this.#list.get(id)?.state;
    if (state?.kind === "failed" && state.during !== "sending") this.#become(id, { kind: "reading" });
  }

  #forget(id: number, { wasDone = false } = {}): void {
    this.#attempts.forget(id);
    this.#list.remove(id, { wasDone });
  }

  #next(): void {
    while (!this.#gate.isClosed && this.#requests.size < AT_ONCE) {
      const waiting = this.#list.items().filter(({ id, state }) => (state.kind === "queued" || state.kind === "paused") && !this.#sending.has(id));
      const batch = nextBatch(waiting, { requests: AT_ONCE, mostFiles: this.#mostFiles, isAlone: ({ id }) => this.#attempts.isAlone(id) });
      if (batch.length === 0) return;
      void this.#send(batch);
    }
  }

  async #send(batch: readonly UploadItem[]): Promise<void> {
    const request = new AbortController();
    this.#requests.add(request);
    for (const { id } of batch) {
      this.#attempts.of(id); // they begin now
      this.#sending.set(id, request);
    }
    try {
      const [first, second] = batch;
      if (first) await (second ? this.#sendSeveral(first, batch, request.signal) : this.#sendOne(first, request.signal));
    } finally {
      this.#requests.delete(request);
      for (const { id } of batch) this.#sending.delete(id);
      this.#next();
    }
  }

  async #sendOne(item: UploadItem, signal: AbortSignal): Promise<void> {
    this.#become(item.id, { kind: "sending", sent: 0, total: item.file.size });
    try {
      this.#stored(item.id, await this.#carry(item, signal));
    } catch (error) {
      if (!signal.aborted) this.#broke(item.id, error);
    }
  }

  async #carry(item: UploadItem, signal: AbortSignal): Promise<Sent> {
    const { id, kbId, file, documentType, replaces } = item;
    const onProgress = (sent: number, total: number) => this.#become(id, { kind: "sending", sent, total });
    if (!replaces) {
      return this.#transport.upload(kbId, file, { documentType, onProgress, signal }).catch((error: unknown) => this.#unlessArrived(item, error));
    }
    if (this.#attempts.of(id).breaks > 0 && (await this.#hasArrived(item, replaces))) return { documentId: replaces, hasCleared: false };
    return this.#transport.replace({ kbId, documentId: replaces }, file, { onProgress, signal });
  }

  /** One that is not stored now may have been before; otherwise the error is thrown again. */
  async #unlessArrived(item: UploadItem, error: unknown): Promise<Sent> {
    if (!(error instanceof DuplicateDocument) || this.#known.has(error.existingId)) throw error;
    if (!(await this.#hasArrived(item, error.existingId))) throw error;
    return { documentId: error.existingId, hasCleared: false };
  }

  #hasArrived({ id, kbId, file, replaces }: UploadItem, documentId: string): Promise<boolean> {
    const { began, breaks, isInterrupted } = this.#attempts.of(id);
    return hasArrived(this.#transport, { kbId, file, replaces, began, isInDoubt: breaks > 0 || isInterrupted }, documentId);
  }

  async #sendSeveral({ kbId, documentType }: UploadItem, batch: readonly UploadItem[], signal: AbortSignal): Promise<void> {
    const files = batch.map(({ file }) => file);
    const onProgress = (sent: number, total: number) => {
      shareOf(files, total > 0 ? sent / total : 1).forEach((share, index) => {
        const item = batch[index];
        if (item && share !== null) this.#become(item.id, { kind: "sending", sent: share, total: item.file.size });
      });
    };
    this.#requeue(batch); // none of them is paused any more
    onProgress(0, 1);
    try {
      await this.#settle(batch, await this.#transport.uploadSeveral(kbId, files, { documentType, onProgress, signal }));
    } catch (error) {
      if (signal.aborted) this.#requeue(batch, (id) => this.#attempts.interrupted(id));
      else if (error instanceof TooLarge) this.#sendFewer(batch);
      else for (const { id } of batch) this.#broke(id, error);
    }
  }

  /** In their order, for a file may have the name of one before it. */
  async #settle(batch: readonly UploadItem[], outcomes: readonly Outcome[]): Promise<void> {
    const last = outcomes.at(-1);
    // The last one says why the request ended before its end: that file has no result.
    const settled = outcomes.length < batch.length && last && "error" in last ? outcomes.slice(0, -1) : outcomes;
    for (const [index, outcome] of settled.entries()) {
      const item = batch[index];
      if (!item) return;
      try {
        this.#stored(item.id, "error" in outcome ? await this.#unlessArrived(item, outcome.error) : outcome);
      } catch (error) {
        this.#broke(item.id, error);
      }
    }
    const unsettled = batch.slice(settled.length);
    if (last && "error" in last && last.error instanceof TooLarge) this.#sendFewer(unsettled);
    else this.#requeue(unsettled, (id) => this.#attempts.broke(id));
  }

  /** The server takes less at once than we think. */
  #sendFewer(batch: readonly UploadItem[]): void {
    if (batch.length > 0) this.#mostFiles = Math.max(1, Math.floor(this.#mostFiles / 2));
    this.#requeue(batch);
  }

  #requeue(batch: readonly UploadItem[], before?: (id: number) => void): void {
    for (const { id } of batch) {
      if (!this.#list.get(id)) continue;
      before?.(id);
      this.#become(id, { kind: "queued" });
    }
  }

  #stored(id: number, sent: Sent): void {
    this.#known.add(sent.documentId);
    const item = this.#list.get(id);
    if (!item) return;
    const stored: UploadItem = { ...item, documentId: sent.documentId, state: { kind: "reading" } };
    this.#list.set(stored);
    this.#events.onStored?.(stored, sent);
  }

  #broke(id: number, error: unknown): void {
    const item = this.#list.get(id);
    if (!item) return;
    if (error instanceof TooManyRequests) {
      this.#become(id, { kind: "paused", why: error instanceof QueueFull ? "queueFull" : "busy" });
      this.#gate.close(error.retryAfterSeconds);
    } else if (isPassing(error) && this.#attempts.of(id).breaks + 1 < MOST_BREAKS) {
      this.#attempts.broke(id);
      this.#become(id, { kind: "paused", why: "away" });
      this.#gate.close();
    } else if (error instanceof DuplicateDocument && !item.replaces) {
      this.#become(id, { kind: "asking", existingId: error.existingId, existingStatus: error.existingStatus });
    } else {
      this.#become(id, { kind: "failed", during: "sending", error });
    }
  }

  #become(id: number, state: UploadState): void {
    const item = this.#list.get(id);
    if (item) this.#list.set({ ...item, state });
  }
}
