import { describe, expect, it } from "vitest";

import { auditFilters, auditQuery, auditView, isFiltered } from "./audit-view";

const ID = "0199a3f2-4b1c-7cc0-8a77-3d0f5c1e2a90";
const parse = (query: string) => auditView.parse(new URLSearchParams(query));

describe("the audit log's address", () => {
  it("asks for everything when it says nothing", () => {
    expect(auditQuery(parse(""))).toEqual({ page: 1, limit: 50 });
    expect(isFiltered(parse("page=2&installation=1"))).toBe(false);
  });

  it("includes the last day, although the server's end is not included", () => {
    expect(auditFilters(parse("from=2026-11-01&to=2026-11-15"))).toEqual({ from: "2026-10-31T23:00:00.000Z", to: "2026-11-15T23:00:00.000Z" });
  });

  it("exports what it shows, on all pages", () => {
    const filters = auditFilters(parse(`action=document_purged&actor=system&kb=${ID}&document=${ID}&page=7`));
    expect(filters).toEqual({ action: "document_purged", actor: "system", kb_id: ID, document_id: ID });
  });
});
