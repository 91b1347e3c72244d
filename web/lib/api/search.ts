/** Passages over all knowledge bases, inside one document, and documents like another; the searches that a person saved. */
import { call, type Query } from "./client";
import type { DocumentPlace } from "./documents";
import type { SavedCriteria, SearchAnswer } from "./types";

const ONE = "/api/v1/knowledge-bases/{kb_id}/documents/{doc_id}";

const at = ({ kbId, documentId }: DocumentPlace) => ({ kb_id: kbId, doc_id: documentId });

export type SearchQuery = Query<"/api/v1/search">;

export const search = (query: SearchQuery, signal?: AbortSignal): Promise<SearchAnswer> => call("get", "/api/v1/search", { query, signal });

export const searchInside = (place: DocumentPlace, q: string, limit?: number, signal?: AbortSignal) =>
  call("get", `${ONE}/search`, { path: at(place), query: { q, ...(limit ? { limit } : {}) }, signal });

export const listSimilar = (place: DocumentPlace, limit?: number, signal?: AbortSignal) =>
  call("get", `${ONE}/similar`, { path: at(place), query: limit ? { limit } : {}, signal });

/** Who uploaded the documents that this person can search. */
export const listUploaders = (signal?: AbortSignal) => call("get", "/api/v1/search/uploaders", { signal });

export const listSavedSearches = (signal?: AbortSignal) => call("get", "/api/v1/saved-searches", { signal });

export const saveSearch = (name: string, parameters: SavedCriteria) => call("post", "/api/v1/saved-searches", { body: { name, parameters } });

export const changeSavedSearch = (searchId: string, change: { name?: string; parameters?: SavedCriteria }) =>
  call("patch", "/api/v1/saved-searches/{search_id}", { path: { search_id: searchId }, body: change });

export const deleteSavedSearch = (searchId: string) => call("delete", "/api/v1/saved-searches/{search_id}", { path: { search_id: searchId } });
