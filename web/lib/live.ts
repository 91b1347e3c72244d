/**
 * The one event stream of this tab. Everybody who waits for documents listens here; nobody opens another.
 *
 * A proxy may hold the stream back, an old one may forbid it: then everybody is told to look again every few seconds
 * instead. A tab that nobody looks at gives its connection back after a while, for a browser has six of them per server.
 */
import type { Status } from "./api";

export interface Progress {
  document_id: string;
  kb_id: string;
  name: string;
  status: Status;
  processing_status: string | null;
  /** The node that is at work: `ExtractText`, … */
  step: string | null;
  page: number | null;
  pages: number | null;
  total_pages: number | null;
  last_error: string | null;
  /** Of the run that is open; without one nothing is being done. */
  purpose: "first" | "reread" | null;
}

export type LiveEvent =
  | { type: "snapshot"; documents: readonly Progress[]; truncated: boolean }
  | { type: "document"; document: Progress }
  | { type: "gone"; documentId: string }
  /** No stream: whoever shows something unfinished asks the server. */
  | { type: "look" };

export type LiveState = "closed" | "connecting" | "live" | "polling";

type Listener = (event: LiveEvent) => void;

/** What is used of an EventSource, so that a test can bring its own. */
export interface Source {
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
  onerror: ((event: Event) => void) | null;
}

export interface LiveOptions {
  open: () => Source;
  /** Without a snapshot after so many milliseconds the stream counts as blocked. */
  patience?: number;
  pollEvery?: number;
  /** How long it waits before it tries the stream again, the first time, the second, …; the last holds for all others. */
  retryAfter?: readonly number[];
}

export class Live {
  readonly #options: Required<LiveOptions>;
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<() => void>();
  readonly #progress = new Map<string, Progress>();
  #source: Source | null = null;
  #state: LiveState = "closed";
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #polling: ReturnType<typeof setInterval> | undefined;
  #failures = 0;

  constructor(options: LiveOptions) {
    this.#options = { patience: 8_000, pollEvery: 4_000, retryAfter: [2_000, 5_000, 15_000, 30_000], ...options };
  }

  get state(): LiveState {
    return this.#state;
  }

  /** What the stream last said of a document that is not finished. */
  progressOf(documentId: string): Progress | undefined {
    return this.#progress.get(documentId);
  }

  /** Calls `listener` for each event, until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `watcher` whenever `state` or a progress is another one. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  start(): void {
    if (this.#source) return;
    if (this.#state === "closed") this.#become("connecting");
    const source = this.#options.open();
    this.#source = source;
    source.addEventListener("snapshot", (event) => this.#snapshot(event.data));
    source.addEventListener("document", (event) => this.#document(JSON.parse(event.data) as Progress));
    source.addEventListener("gone", (event) => this.#gone((JSON.parse(event.data) as { document_id: string }).document_id));
    source.onerror = () => this.#fallBack();
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#fallBack(), this.#options.patience);
  }

  stop(): void {
    this.#close();
    this.#endPolling();
    this.#become("closed");
  }

  #close(): void {
    clearTimeout(this.#waiting);
    this.#source?.close();
    this.#source = null;
  }

  /** Ask instead of listening, and try the stream again now and then. */
  #fallBack(): void {
    this.#close();
    this.#become("polling");
    this.#polling ??= setInterval(() => this.#tell({ type: "look" }), this.#options.pollEvery);
    this.#tell({ type: "look" });
    const { retryAfter } = this.#options;
    this.#waiting = setTimeout(() => this.start(), retryAfter[Math.min(this.#failures, retryAfter.length - 1)]);
    this.#failures += 1;
  }

  #endPolling(): void {
    clearInterval(this.#polling);
    this.#polling = undefined;
  }

  #snapshot(data: string): void {
    clearTimeout(this.#waiting);
    this.#endPolling();
    this.#failures = 0;
    const { documents, truncated } = JSON.parse(data) as { documents: Progress[]; truncated: boolean };
    if (!truncated) this.#progress.clear();
    for (const document of documents) this.#progress.set(document.document_id, document);
    this.#become("live");
    this.#tell({ type: "snapshot", documents, truncated });
  }

  #document(document: Progress): void {
    const isFinished = document.purpose === null && document.status !== "pending" && document.status !== "processing";
    if (isFinished) this.#progress.delete(document.document_id);
    else this.#progress.set(document.document_id, document);
    this.#notify();
    this.#tell({ type: "document", document });
  }

  #gone(documentId: string): void {
    this.#progress.delete(documentId);
    this.#notify();
    this.#tell({ type: "gone", documentId });
  }

  #become(state: LiveState): void {
    this.#state = state;
    this.#notify();
  }

  #notify(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  #tell(event: LiveEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

/** The stream of this tab. */
export const live = new Live({ open: () => new EventSource("/api/v1/events") });
