/**
 * Files on their way in: at most three at a time, the others in line. What breaks off because the server is away is sent
 * again when it is back; what the server refuses stays with its reason, and a person tries again.
 */
import { DuplicateDocument, isPassing, QueueFull, TooManyRequests, type DocumentType } from "@/lib/api";

import { hasArrived } from "./arrival";
import { Gate } from "./gate";
import { isFinished, type UploadItem, type UploadState } from "./item";
import type { Sent, Transport } from "./transport";

const AT_ONCE = 3;
/** A connection that breaks so often while the server is there breaks because of the file. */
const MOST_BREAKS = 4;
const DONE_STAYS_MS = 6_000;

interface Attempts {
  /** When the first of them began. */
  began: number;
  /** How often the connection broke. */
  breaks: number;
}

export interface QueueEvents {
  onStored?: (item: UploadItem, sent: Sent) => void;
}

export class UploadQueue {
  readonly #transport: Transport;
  readonly #events: QueueEvents;
  readonly #gate: Gate;
  readonly #items = new Map<number, UploadItem>();
  readonly #attempts = new Map<number, Attempts>();
  readonly #sending = new Map<number, AbortController>();
  /** Documents that files of this queue became: the next file of that name is a duplicate of theirs. */
  readonly #known = new Set<string>();
  readonly #watchers = new Set<() => void>();
  #snapshot: readonly UploadItem[] = [];
  #nextId = 1;
  #doneBefore = 0;

  constructor(transport: Transport, events: QueueEvents = {}) {
    this.#transport = transport;
    this.#events = events;
    this.#gate = new Gate(
      () => transport.isThere(),
      () => this.#next(),
    );
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  readonly items = (): readonly UploadItem[] => this.#snapshot;

  /** How many of this round were done and have left the list. */
  get doneBefore(): number {
    return this.#doneBefore;
  }

  add(kbId: string, files: readonly File[], documentType: DocumentType): void {
    for (const file of files) this.#put({ kbId, file, documentType, replaces: null });
    this.#changed();
    this.#next();
  }

  /** Into the place of a document that is there. */
  replace(kbId: string, documentId: string, file: File): void {
    this.#put({ kbId, file, documentType: "other", replaces: documentId });
    this.#changed();
    this.#next();
  }

  #put(wanted: Pick<UploadItem, "kbId" | "file" | "documentType" | "replaces">): void {
    const id = this.#nextId++;
    this.#items.set(id, { ...wanted, id, documentId: null, state: { kind: "queued" } });
  }

  /** Once more, from the beginning; as a replacement where a document is named. */
  again(id: number, { replaces }: { replaces?: string } = {}): void {
    const item = this.#items.get(id);
    if (!item) return;
    this.#attempts.delete(id);
    this.#items.set(id, { ...item, replaces: replaces ?? item.replaces, documentId: null, state: { kind: "queued" } });
    this.#changed();
    this.#next();
  }

  /** Not at all, or not shown any more. What is stored stays stored. */
  drop(id: number): void {
    this.#sending.get(id)?.abort();
    this.#forget(id);
    this.#next();
  }

  /** The server may be back. */
  wake(): void {
    this.#gate.wake();
  }

  /** It can be found, or it cannot be read. */
  finish(id: number, failure: string | null, during: "reading" | "replacing" = "reading"): void {
    const item = this.#items.get(id);
    if (item?.state.kind !== "reading") return;
    this.#become(id, failure === null ? { kind: "done" } : { kind: "failed", during, reason: failure });
    if (failure === null) setTimeout(() => this.#leave(id), DONE_STAYS_MS);
  }

  /** It is read once more. */
  reread(id: number): void {
    const state = this.#items.get(id)?.state;
    if (state?.kind === "failed" && state.during !== "sending") this.#become(id, { kind: "reading" });
  }

  #leave(id: number): void {
    if (this.#items.get(id)?.state.kind !== "done") return;
    this.#doneBefore += 1;
    this.#forget(id);
  }

  #forget(id: number): void {
    this.#items.delete(id);
    this.#attempts.delete(id);
    if ([...this.#items.values()].every((item) => isFinished(item) && item.state.kind === "failed")) this.#doneBefore = 0;
    this.#changed();
  }

  #next(): void {
    if (this.#gate.isClosed) return;
    for (const item of this.#items.values()) {
      if (this.#sending.size >= AT_ONCE) return;
      const { kind } = item.state;
      if ((kind === "queued" || kind === "paused") && !this.#sending.has(item.id)) void this.#send(item);
    }
  }

  async #send(item: UploadItem): Promise<void> {
    const controller = new AbortController();
    const attempts = this.#attempts.get(item.id) ?? { began: Date.now(), breaks: 0 };
    this.#attempts.set(item.id, attempts);
    this.#sending.set(item.id, controller);
    this.#become(item.id, { kind: "sending", sent: 0, total: item.file.size });
    try {
      const sent = await this.#carry(item, attempts, controller.signal);
      this.#stored(item.id, sent);
    } catch (error) {
      if (!controller.signal.aborted) this.#broke(item, error, attempts);
    } finally {
      this.#sending.delete(item.id);
      this.#next();
    }
  }

  async #carry(item: UploadItem, { began, breaks }: Attempts, signal: AbortSignal): Promise<Sent> {
    const { kbId, file, documentType, replaces } = item;
    const onProgress = (sent: number, total: number) => this.#become(item.id, { kind: "sending", sent, total });
    const attempt = { kbId, file, replaces, began, isInDoubt: breaks > 0 };
    if (replaces) {
      if (breaks > 0 && (await hasArrived(this.#transport, attempt, replaces))) return { documentId: replaces, hasCleared: false };
      return this.#transport.replace({ kbId, documentId: replaces }, file, { onProgress, signal });
    }
    try {
      return await this.#transport.upload(kbId, file, { documentType, onProgress, signal });
    } catch (error) {
      if (!(error instanceof DuplicateDocument) || this.#known.has(error.existingId)) throw error;
      if (!(await hasArrived(this.#transport, attempt, error.existingId))) throw error;
      return { documentId: error.existingId, hasCleared: false };
    }
  }

  #stored(id: number, sent: Sent): void {
    this.#known.add(sent.documentId);
    const item = this.#items.get(id);
    if (!item) return;
    const stored: UploadItem = { ...item, documentId: sent.documentId, state: { kind: "reading" } };
    this.#items.set(id, stored);
    this.#changed();
    this.#events.onStored?.(stored, sent);
  }

  #broke(item: UploadItem, error: unknown, attempts: Attempts): void {
    if (error instanceof TooManyRequests) {
      this.#become(item.id, { kind: "paused", why: error instanceof QueueFull ? "queueFull" : "busy" });
      this.#gate.close(error.retryAfterSeconds);
    } else if (isPassing(error) && attempts.breaks + 1 < MOST_BREAKS) {
      attempts.breaks += 1;
      this.#become(item.id, { kind: "paused", why: "away" });
      this.#gate.close();
    } else if (error instanceof DuplicateDocument && !item.replaces) {
      this.#become(item.id, { kind: "asking", existingId: error.existingId, existingStatus: error.existingStatus });
    } else {
      this.#become(item.id, { kind: "failed", during: "sending", error });
    }
  }

  #become(id: number, state: UploadState): void {
    const item = this.#items.get(id);
    if (!item) return;
    this.#items.set(id, { ...item, state });
    this.#changed();
  }

  #changed(): void {
    this.#snapshot = [...this.#items.values()];
    for (const watcher of [...this.#watchers]) watcher();
  }
}
