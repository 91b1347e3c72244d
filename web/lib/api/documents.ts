/** Documents of a knowledge base: list, look, and every move of their lifecycle. Sending files is in `uploads.ts`. */
import { call, urlOf, type Query } from "./client";

const ALL = "/api/v1/knowledge-bases/{kb_id}/documents";
const ONE = `${ALL}/{doc_id}` as const;

export interface DocumentPlace {
  kbId: string;
  documentId: string;
}

const at = ({ kbId, documentId }: DocumentPlace) => ({ kb_id: kbId, doc_id: documentId });

export type DocumentQuery = Query<typeof ALL>;

export const listDocuments = (kbId: string, query: DocumentQuery, signal?: AbortSignal) => call("get", ALL, { path: { kb_id: kbId }, query, signal });

export const getDocument = (place: DocumentPlace, signal?: AbortSignal) => call("get", ONE, { path: at(place), signal });

/** Where the browser fetches the original from; always saved, never shown. */
export const downloadUrl = (place: DocumentPlace) => urlOf(`${ONE}/download`, { path: at(place) });

export const explainDocument = (place: DocumentPlace, signal?: AbortSignal) => call("get", `${ONE}/explain`, { path: at(place), signal });

export const listRuns = (place: DocumentPlace, query: Query<`${typeof ONE}/runs`>, signal?: AbortSignal) =>
  call("get", `${ONE}/runs`, { path: at(place), query, signal });

export const archiveDocument = (place: DocumentPlace) => call("post", `${ONE}/archive`, { path: at(place) });

export const restoreDocument = (place: DocumentPlace) => call("post", `${ONE}/restore`, { path: at(place) });

export const cancelDocument = (place: DocumentPlace) => call("post", `${ONE}/cancel`, { path: at(place) });

export const retryDocument = (place: DocumentPlace, { force = false }: { force?: boolean } = {}) =>
  call("post", `${ONE}/retry`, { path: at(place), body: { force } });

export const revertDocument = (place: DocumentPlace) => call("post", `${ONE}/replace/revert`, { path: at(place) });

export const retryReplacement = (place: DocumentPlace) => call("post", `${ONE}/replace/retry`, { path: at(place) });

export const discardReplacement = (place: DocumentPlace) => call("delete", `${ONE}/replace/failed`, { path: at(place) });

export const clearDocument = (place: DocumentPlace) => call("delete", `${ONE}/clear`, { path: at(place), timeout: 60 });

/** `pending` names the stores that are not proven empty yet; the receipt appears under its id when they are. */
export const purgeDocument = (place: DocumentPlace, { cancelHandOver = false }: { cancelHandOver?: boolean } = {}) =>
  call("delete", `${ONE}/purge`, { path: at(place), query: { cancel_hand_over: cancelHandOver }, timeout: 60 });

export const archiveDocuments = (kbId: string, documentIds: string[]) =>
  call("post", `${ALL}/bulk-archive`, { path: { kb_id: kbId }, body: { document_ids: documentIds }, timeout: 120 });

/** At most 100 at once and ten calls a minute, then `TooManyRequests`. */
export const purgeDocuments = (kbId: string, documentIds: string[]) =>
  call("post", `${ALL}/bulk-purge`, { path: { kb_id: kbId }, body: { document_ids: documentIds }, timeout: 180 });

export const handOverDocument = (place: DocumentPlace) => call("post", `${ONE}/hand-over`, { path: at(place) });

export type ArchivedQuery = Query<"/api/v1/documents/archived">;

export const listArchived = (query: ArchivedQuery, signal?: AbortSignal) => call("get", "/api/v1/documents/archived", { query, signal });

/** Over all knowledge bases that the person may see, by name or id. */
export const findDocuments = (query: Query<"/api/v1/documents">, signal?: AbortSignal) => call("get", "/api/v1/documents", { query, signal });
