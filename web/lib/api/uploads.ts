/** Sending files. `fetch` tells nothing of what has left the machine, so that these two go by XMLHttpRequest. */
import { errorOf } from "./answers";
import { secondsOf, urlOf } from "./client";
import type { DocumentPlace } from "./documents";
import { TimedOut, Unreachable } from "./errors";
import type { DocumentCreated, DocumentType, Replaced } from "./types";

export interface Sending {
  /** Bytes that have left, and how many there are with the form around them. */
  onProgress?: (sent: number, total: number) => void;
  signal?: AbortSignal;
}

const ALL = "/api/v1/knowledge-bases/{kb_id}/documents";
/** A large file takes as long as it takes; a connection on which nothing moves any more is none. */
const STALLED_MS = 60_000;
/** From the last byte to the answer: the server stores and checks the whole file. */
const STORING_MS = 180_000;

/** Raises `DuplicateDocument` when the name is taken. The file's own name is the document's. */
export function uploadDocument(
  kbId: string,
  file: File,
  { documentType, ...sending }: Sending & { documentType?: DocumentType } = {},
): Promise<DocumentCreated> {
  const form = new FormData();
  // In front of the file: the server reads the form as it comes.
  if (documentType) form.append("document_type", documentType);
  form.append("file", file, file.name);
  return send<DocumentCreated>(urlOf(ALL, { path: { kb_id: kbId } }), form, sending);
}

/** The document stays the same one and gets the file's name and contents. */
export function replaceDocument(place: DocumentPlace, file: File, sending: Sending = {}): Promise<Replaced> {
  const form = new FormData();
  form.append("file", file, file.name);
  const path = { kb_id: place.kbId, doc_id: place.documentId };
  return send<Replaced>(urlOf(`${ALL}/{doc_id}/replace`, { path }), form, sending);
}

function send<Body>(url: string, form: FormData, { onProgress, signal }: Sending): Promise<Body> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    let isStalled = false;
    let timer: ReturnType<typeof setTimeout>;
    const expectWithin = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        isStalled = true;
        request.abort();
      }, ms);
    };
    request.open("POST", url);
    request.setRequestHeader("Accept", "application/json");
    request.upload.onprogress = (event) => {
      expectWithin(STALLED_MS);
      onProgress?.(event.loaded, event.total);
    };
    request.upload.onload = () => expectWithin(STORING_MS);
    request.onload = () => {
      const body: unknown = parsed(request.responseText);
      if (request.status >= 200 && request.status < 300) resolve(body as Body);
      else reject(errorOf(answerOf(request, body)));
    };
    request.onerror = () => reject(new Unreachable("Cannot reach the server"));
    request.onabort = () => reject(isStalled ? new TimedOut("The server did not respond") : new DOMException("The upload was cancelled", "AbortError"));
    request.onloadend = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    if (signal?.aborted) return reject(new DOMException("The upload was cancelled", "AbortError"));
    signal?.addEventListener("abort", abort);
    expectWithin(STALLED_MS);
    request.send(form);
  });
}

function answerOf(request: XMLHttpRequest, body: unknown) {
  return {
    status: request.status,
    body,
    requestId: request.getResponseHeader("X-Request-ID"),
    retryAfterSeconds: secondsOf(request.getResponseHeader("Retry-After")),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
