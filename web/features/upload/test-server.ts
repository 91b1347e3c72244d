/** For tests: a server that the test answers for, one request after the other. */
import { DuplicateDocument, type Status } from "@/lib/api";

import type { Sent, Transport } from "./transport";

export const answer = (status: number) => ({ status, body: null, requestId: null, retryAfterSeconds: 7 });
export const duplicate = (id: string, status: Status = "completed") => new DuplicateDocument("taken", answer(409), { id, status });
export const file = (name: string, content = "text") => new File([content], name);
export const files = (...names: string[]) => names.map((name) => file(name));

export type Options = Parameters<Transport["replace"]>[2];
export type Promised = { answer: (sent: Sent) => void; fail: (error: unknown) => void };
export type Request = Promised & { name: string; replaces: string | null; progress: Options["onProgress"]; signal: AbortSignal };

export type Outcomes = Awaited<ReturnType<Transport["uploadSeveral"]>>;
export type Batch = {
  names: readonly string[];
  answer: (outcomes: Outcomes) => void;
  fail: (error: unknown) => void;
  progress: Options["onProgress"];
  signal: AbortSignal;
};

export class Server implements Transport {
  readonly requests: Request[] = [];
  isUp = true;
  knocks = 0;
  documents = new Map<string, { sha256: string; file_size: number; uploaded_by: string; created_at: string; updated_at: string }>();

  #take(name: string, replaces: string | null, { onProgress, signal }: Options): Promise<Sent> {
    return new Promise((resolve, reject) => this.requests.push({ name, replaces, answer: resolve, fail: reject, progress: onProgress, signal }));
  }
  upload: Transport["upload"] = (_kb, sent, options) => this.#take(sent.name, null, options);
  replace: Transport["replace"] = (place, sent, options) => this.#take(sent.name, place.documentId, options);
  readonly batches: Batch[] = [];
  uploadSeveral: Transport["uploadSeveral"] = (_kb, sent, { onProgress, signal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      this.batches.push({ names: sent.map(({ name }) => name), answer: resolve, fail: reject, progress: onProgress, signal });
    });
  look: Transport["look"] = async ({ documentId }) => this.documents.get(documentId) ?? Promise.reject(new Error("not there"));
  digest: Transport["digest"] = async (of) => `hash of ${of.name}`;
  me: Transport["me"] = async () => "me";
  isThere: Transport["isThere"] = async () => {
    this.knocks += 1;
    return this.isUp;
  };
}
