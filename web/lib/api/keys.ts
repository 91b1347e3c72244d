/**
 * The names under which answers are kept. A change invalidates by the front of a name: `["documents", kbId]` hits the
 * list in every order and filter.
 */
export const keys = {
  me: ["me"] as const,
  tokens: (query?: object) => parts("tokens", query),
  knowledgeBases: (query?: object) => parts("knowledge-bases", query),
  knowledgeBase: (kbId: string) => ["knowledge-base", kbId] as const,
  members: (kbId: string, query?: object) => parts("members", kbId, query),
  documents: (kbId?: string, query?: object) => parts("documents", kbId, query),
  document: (documentId: string, part?: string, query?: object) => parts("document", documentId, part, query),
  archived: (query?: object) => parts("archived", query),
  search: (query?: object) => parts("search", query),
  uploaders: ["uploaders"] as const,
  savedSearches: ["saved-searches"] as const,
  events: (query?: object) => parts("audit", query),
  verdict: (query?: object) => parts("audit-verdict", query),
  receipts: (query?: object) => parts("receipts", query),
  users: (query?: object) => parts("users", query),
  organizations: (query?: object) => parts("organizations", query),
  operations: (part?: string, query?: object) => parts("operations", part, query),
};

function parts(...given: readonly (string | object | undefined)[]): readonly (string | object)[] {
  return given.filter((part) => part !== undefined);
}
