/** Sending files. `fetch` tells nothing of what has left the machine, so that these go by XMLHttpRequest. */
import { errorOf, isRecord } from "./answers";
import { secondsOf, urlOf } from "./client";
import type { DocumentPlace } from "./documents";
import { TimedOut, Unreachable, type Answer, type ApiError } from "./errors";
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
export async function uploadDocument(
  kbId: string,
  file: File,
  { documentType, ...sending }: Sending & { documentType?: DocumentType } = {},
): Promise<DocumentCreated> {
  const { body } = await send(urlOf(ALL, { path: { kb_id: kbId } }), formOf([file], documentType), sending);
  return body as DocumentCreated;
}

/** What became of one file of several. */
export type UploadOutcome = { document: DocumentCreated } | { error: ApiError };

/**
 * Several files in one request, each with its own outcome, in their order. There are fewer outcomes than files if the
 * request could not be read to its end; the last one says why.
 */
export async function uploadDocuments(
  kbId: string,
  files: readonly File[],
  { documentType, ...sending }: Sending & { documentType?: DocumentType } = {},
): Promise<readonly UploadOutcome[]> {
  const answer = await send(urlOf(ALL, { path: { kb_id: kbId } }), formOf(files, documentType), sending);
  const results: unknown = isRecord(answer.body) ? answer.body.results : null;
  return Array.isArray(results) ? results.filter(isRecord).map((result) => outcomeOf(result, answer)) : [];
}

function outcomeOf({ status, body }: Record<string, unknown>, answer: Answer): UploadOutcome {
  if (status === 201) return { document: body as DocumentCreated };
  return { error: errorOf({ ...answer, status: Number(status), body }) };
}

function formOf(files: readonly File[], documentType?: DocumentType): FormData {
  const form = new FormData();
  // In front of the files: the server reads the form as it comes.
  if (documentType) form.append("document_type", documentType);
  for (const file of files) form.append("file", file, file.name);
  return form;
}

/** The document stays the same one and gets the file's name and contents. */
export async function replaceDocument(place: DocumentPlace, file: File, sending: Sending = {}): Promise<Replaced> {
  const path = { kb_id: place.kbId, doc_id: place.documentId };
  const { body } = await send(urlOf(`${ALL}/{doc_id}/replace`, { path }), formOf([file]), sending);
  return body as Replaced;
}

function send(url: string, form: FormData, { onProgress, signal }: Sending): Promise<Answer> {
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
      const answer = answerOf(request);
      if (request.status >= 200 && request.status < 300) resolve(answer);
      else reject(errorOf(answer));
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

function answerOf(request: XMLHttpRequest): Answer {
  return {
    status: request.status,
    body: parsed(request.responseText),
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
