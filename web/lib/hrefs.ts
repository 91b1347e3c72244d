/** The addresses of the pages. A static export has no dynamic routes: ids stand in the query. */
import type { DocumentPlace } from "./api";
import { defineView, flag, integer, text } from "./url-state";

/** `all`: the list, also where there is one only; `new`: with the dialog that makes one. */
export const knowledgeBasesView = defineView({ q: text(), page: integer(1), all: flag(), new: flag() });

export const ALL_KNOWLEDGE_BASES = knowledgeBasesView.href("/", { all: true });
export const NEW_KNOWLEDGE_BASE = knowledgeBasesView.href("/", { new: true });

/** `/document` needs the knowledge base, too: the API knows documents only in theirs. */
export const documentView = defineView({ kb: text(), id: text(), page: integer(1), find: text() });

export const hrefOfKnowledgeBase = (kbId: string): string => `/kb?id=${encodeURIComponent(kbId)}`;

export const hrefOfDocument = ({ kbId, documentId }: DocumentPlace, at: { page?: number; find?: string } = {}): string =>
  documentView.href("/document", { kb: kbId, id: documentId, ...at });

export const hrefOfSearch = (q = ""): string => (q ? `/search?q=${encodeURIComponent(q)}` : "/search");
