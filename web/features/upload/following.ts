/** From the event stream to the files that are being read. Where the stream is blocked or had a gap, the server is asked. */
import { isPassing, NotFound, type Document } from "@/lib/api";
import type { Live, LiveEvent, Progress } from "@/lib/live";

import type { UploadItem } from "./item";
import type { UploadQueue } from "./queue";

const REMEMBERED = 500;
/** So many documents are asked about at the same time: of a large folder there may be a thousand. */
const LANES = 2;

export interface FollowingWords {
  gone: string;
  failed: string;
}

type Look = (place: { kbId: string; documentId: string }) => Promise<Pick<Document, "status" | "last_error" | "failed_replacement">>;

export class Following {
  readonly #queue: UploadQueue;
  readonly #look: Look;
  readonly #words: FollowingWords;
  /** A small file is read before the answer to its upload has come. */
  readonly #finished = new Map<string, Progress>();
  /** To be asked about. */
  readonly #waiting = new Map<number, UploadItem>();
  #lanes = 0;

  constructor(queue: UploadQueue, live: Pick<Live, "listen">, look: Look, words: FollowingWords) {
    this.#queue = queue;
    this.#look = look;
    this.#words = words;
    live.listen((event) => this.#hear(event));
  }

  /** A file was stored: perhaps it has been read already. */
  begin(item: UploadItem): void {
    const known = item.documentId === null ? undefined : this.#finished.get(item.documentId);
    if (known) this.#hearEnd(item, known);
  }

  /** Its old end is of no interest any more. */
  forget(documentId: string): void {
    this.#finished.delete(documentId);
  }

  #hear(event: LiveEvent): void {
    if (event.type === "document") this.#told(event.document);
    else if (event.type === "gone") this.#end(event.documentId, this.#words.gone);
    else if (event.type === "look") this.#askAbout(() => true);
    else {
      const unfinished = new Set(event.documents.map((progress) => progress.document_id));
      this.#askAbout((documentId) => !unfinished.has(documentId));
    }
  }

  #told(progress: Progress): void {
    // A failed one that was retried, or whose old file was brought back, has failed no more.
    const isAtWork = progress.status === "pending" || progress.status === "processing";
    for (const item of this.#failed(progress.document_id)) {
      const hasOldFile = item.state.kind === "failed" && item.state.during === "replacing";
      if (isAtWork || (progress.status !== "failed" && !hasOldFile)) this.#queue.reread(item.id);
    }
    if (isAtWork) {
      this.#finished.delete(progress.document_id);
      return;
    }
    this.#finished.set(progress.document_id, progress);
    if (this.#finished.size > REMEMBERED) this.forget(this.#finished.keys().next().value ?? "");
    for (const item of this.#reading(progress.document_id)) this.#hearEnd(item, progress);
  }

  /** A replaced document that is completed may have its old file again, which only the document itself tells. */
  #hearEnd(item: UploadItem, { document_id, status, last_error }: Progress): void {
    if (item.replaces === null || status === "failed") this.#settle(item, status, last_error);
    else void this.#ask(item, document_id);
  }

  #end(documentId: string, reason: string): void {
    for (const item of this.#failed(documentId)) this.#queue.drop(item.id); // it was cleared
    for (const item of this.#reading(documentId)) this.#queue.finish(item.id, reason);
  }

  #askAbout(isWanted: (documentId: string) => boolean): void {
    for (const item of this.#queue.items()) {
      if (item.state.kind !== "reading" || item.documentId === null || !isWanted(item.documentId)) continue;
      if (!this.#waiting.has(item.id)) this.#waiting.set(item.id, item);
    }
    while (this.#lanes < LANES && this.#waiting.size > 0) void this.#askWaiting();
  }

  async #askWaiting(): Promise<void> {
    this.#lanes += 1;
    for (const [id, item] of this.#waiting) {
      this.#waiting.delete(id);
      if (item.documentId !== null) await this.#ask(item, item.documentId);
    }
    this.#lanes -= 1;
  }

  async #ask(item: UploadItem, documentId: string): Promise<void> {
    try {
      const { status, last_error, failed_replacement: failed } = await this.#look({ kbId: item.kbId, documentId });
      if (item.replaces !== null && failed) this.#queue.finish(item.id, failed.error, "replacing");
      else this.#settle(item, status, last_error);
    } catch (error) {
      if (error instanceof NotFound) this.#end(documentId, this.#words.gone);
      else if (!isPassing(error)) this.#queue.finish(item.id, error instanceof Error ? error.message : this.#words.failed);
    }
  }

  #settle(item: UploadItem, status: Progress["status"], error: string | null): void {
    if (status === "failed") this.#queue.finish(item.id, error ?? this.#words.failed);
    else if (status !== "pending" && status !== "processing") this.#queue.finish(item.id, null);
  }

  #failed(documentId: string): readonly UploadItem[] {
    return this.#queue.ofDocument(documentId).filter(({ state }) => state.kind === "failed" && state.during !== "sending");
  }

  #reading(documentId: string): readonly UploadItem[] {
    return this.#queue.ofDocument(documentId).filter(({ state }) => state.kind === "reading");
  }
}
