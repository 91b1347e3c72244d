/** What was read out of a document: pages, text, paragraphs, diagrams, and the notes on them. */
import { call, urlOf, type Query } from "./client";
import type { DocumentPlace } from "./documents";

const ONE = "/api/v1/knowledge-bases/{kb_id}/documents/{doc_id}";

const at = ({ kbId, documentId }: DocumentPlace) => ({ kb_id: kbId, doc_id: documentId });

/** Notes are whatever JSON a person or a program put there; null removes them. */
export type Notes = Record<string, unknown> | null;

export const getSummary = (place: DocumentPlace, signal?: AbortSignal) => call("get", `${ONE}/summary`, { path: at(place), signal });

export const listPages = (place: DocumentPlace, query: Query<`${typeof ONE}/pages`>, signal?: AbortSignal) =>
  call("get", `${ONE}/pages`, { path: at(place), query, signal });

export const getPage = (place: DocumentPlace, number: number, signal?: AbortSignal) =>
  call("get", `${ONE}/pages/{number}`, { path: { ...at(place), number }, signal });

export const annotatePage = (place: DocumentPlace, number: number, change: { annotations?: Notes; flags?: Notes }) =>
  call("patch", `${ONE}/pages/{number}`, { path: { ...at(place), number }, body: change });

export const listParagraphs = (place: DocumentPlace, query: Query<`${typeof ONE}/paragraphs`>, signal?: AbortSignal) =>
  call("get", `${ONE}/paragraphs`, { path: at(place), query, signal });

export const annotateParagraph = (place: DocumentPlace, number: number, index: number, annotations: Notes) =>
  call("patch", `${ONE}/pages/{number}/paragraphs/{index}`, {
    path: { ...at(place), number, index },
    body: { annotations },
  });

export const listDiagrams = (place: DocumentPlace, query: Query<`${typeof ONE}/diagrams`>, signal?: AbortSignal) =>
  call("get", `${ONE}/diagrams`, { path: at(place), query, signal });

export const annotateDiagram = (place: DocumentPlace, key: string, annotations: Notes) =>
  call("patch", `${ONE}/diagrams/{key}`, { path: { ...at(place), key }, body: { annotations } });

/** `revision` changes nothing but the address: a replaced document must not show the old picture out of a cache. */
export const pageImageUrl = (place: DocumentPlace, number: number, width?: number, revision?: number) =>
  urlOf(`${ONE}/pages/{number}/image`, { path: { ...at(place), number }, query: { width, revision } });

export const diagramImageUrl = (place: DocumentPlace, key: string) => urlOf(`${ONE}/diagrams/{key}/image`, { path: { ...at(place), key } });

export const textUrl = (place: DocumentPlace) => urlOf(`${ONE}/text`, { path: at(place) });
