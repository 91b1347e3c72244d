import { describe, expect, it } from "vitest";

import { archivedQuery, archiveView, isFiltered } from "./archive-view";

const KB = "0199a3f2-4b1c-7cc0-8a77-3d0f5c1e2a90";
const parse = (query: string) => archiveView.parse(new URLSearchParams(query));

describe("the archive's address", () => {
  it("asks for the newest twenty when it says nothing", () => {
    expect(archivedQuery(parse(""))).toEqual({ sort: "-archived_at", page: 1, limit: 20 });
  });

  it("holds every filter, and gives it back", () => {
    const address = `/archive?q=lease&kb=${KB}&from=2026-10-01&to=2026-11-15&sort=-file_size&page=3&limit=50`;
    expect(archiveView.href("/archive", parse(address.slice(address.indexOf("?"))))).toBe(address);
  });

  it("asks by what it holds", () => {
    expect(archivedQuery(parse(`q=lease&kb=${KB}&sort=name&page=2&limit=10`))).toEqual({ search: "lease", kb_id: KB, sort: "name", page: 2, limit: 10 });
  });

  it("asks for whole days of the reader's zone", () => {
    const query = archivedQuery(parse("from=2026-10-01&to=2026-11-15"));
    expect(query.archived_from).toBe("2026-09-30T22:00:00.000Z");
    expect(query.archived_to).toBe("2026-11-15T22:59:59.999Z");
  });

  it("takes nonsense for nothing", () => {
    expect(parse("kb=x&from=yesterday&sort=loud&page=0&limit=7")).toEqual(archiveView.initial);
    expect(isFiltered(parse("kb=x&page=4"))).toBe(false);
  });

  it("goes back to the first page when a filter changes, and stays when a receipt is opened on it", () => {
    const third = parse("page=3");
    expect(archiveView.after(third, { q: "lease" }).page).toBe(1);
    expect(archiveView.after(third, { receipt: KB, page: third.page }).page).toBe(3);
  });
});
