/** Passages over all knowledge bases, inside one document, and documents like another. */
import { call, type Query } from "./client";
import type { DocumentPlace } from "./documents";

const ONE = "/api/v1/knowledge-bases/{kb_id}/documents/{doc_id}";

const at = ({ kbId, documentId }: DocumentPlace) => ({ kb_id: kbId, doc_id: documentId });

export type SearchQuery = Query<"/api/v1/search">;

export const search = (query: SearchQuery, signal?: AbortSignal) => call("get", "/api/v1/search", { query, signal });

export const searchInside = (place: DocumentPlace, q: string, limit?: number, signal?: AbortSignal) =>
  call("get", `${ONE}/search`, { path: at(place), query: { q, ...(limit ? { limit } : {}) }, signal });

export const listSimilar = (place: DocumentPlace, limit?: number, signal?: AbortSignal) =>
  call("get", `${ONE}/similar`, { path: at(place), query: limit ? { limit } : {}, signal });
