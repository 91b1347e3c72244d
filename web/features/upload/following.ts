/** From the event stream to the files that are being read. Where the stream is blocked or had a gap, the server is asked. */
import { isPassing, NotFound, type Document } from "@/lib/api";
import type { Live, LiveEvent, Progress } from "@/lib/live";

import type { UploadItem } from "./item";
import type { UploadQueue } from "./queue";

const REMEMBERED = 500;

export interface FollowingWords {
  gone: string;
  failed: string;
}

type Look = (place: { kbId: string; documentId: string }) => Promise<Pick<Document, "status" | "last_error">>;

export class Following {
  readonly #queue: UploadQueue;
  readonly #look: Look;
  readonly #words: FollowingWords;
  /** A small file is read before the answer to its upload has come. */
  readonly #finished = new Map<string, Progress>();

  constructor(queue: UploadQueue, live: Pick<Live, "listen">, look: Look, words: FollowingWords) {
    this.#queue = queue;
    this.#look = look;
    this.#words = words;
    live.listen((event) => this.#hear(event));
  }

  /** A file was stored: perhaps it has been read already. */
  begin(item: UploadItem): void {
    const known = item.documentId === null ? undefined : this.#finished.get(item.documentId);
    if (known) this.#settle(item, known.status, known.last_error);
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
    const isAtWork = progress.status === "pending" || progress.status === "processing";
    if (isAtWork) {
      this.#finished.delete(progress.document_id);
      return;
    }
    this.#finished.set(progress.document_id, progress);
    if (this.#finished.size > REMEMBERED) this.forget(this.#finished.keys().next().value ?? "");
    for (const item of this.#reading()) {
      if (item.documentId === progress.document_id) this.#settle(item, progress.status, progress.last_error);
    }
  }

  #end(documentId: string, reason: string): void {
    for (const item of this.#reading()) if (item.documentId === documentId) this.#queue.finish(item.id, reason);
  }

  #askAbout(isWanted: (documentId: string) => boolean): void {
    for (const item of this.#reading()) {
      if (item.documentId !== null && isWanted(item.documentId)) void this.#ask(item, item.documentId);
    }
  }

  async #ask(item: UploadItem, documentId: string): Promise<void> {
    try {
      const { status, last_error } = await this.#look({ kbId: item.kbId, documentId });
      this.#settle(item, status, last_error);
    } catch (error) {
      if (error instanceof NotFound) this.#end(documentId, this.#words.gone);
      else if (!isPassing(error)) this.#queue.finish(item.id, error instanceof Error ? error.message : this.#words.failed);
    }
  }

  #settle(item: UploadItem, status: Progress["status"], error: string | null): void {
    if (status === "failed") this.#queue.finish(item.id, error ?? this.#words.failed);
    else if (status !== "pending" && status !== "processing") this.#queue.finish(item.id, null);
  }

  #reading(): readonly UploadItem[] {
    return this.#queue.items().filter((item) => item.state.kind === "reading");
  }
}
