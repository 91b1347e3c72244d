import { describe, expect, it } from "vitest";

import { criteriaOf, isSameSearch, stateOf } from "./saved-criteria";
import { filtersOf, queryOf, searchView, WITHOUT_FILTERS, type SearchState } from "./search-view";

const ID = "0199a3f2-1111-7000-8000-000000000001";
const KB = "0199a3f2-2222-7000-8000-000000000002";
const PERSON = "0199a3f2-3333-7000-8000-000000000003";
const full: SearchState = {
  q: "notice period",
  kb: [KB],
  type: ["invoice", "contract"],
  from: "2026-11-01",
  to: "2026-11-15",
  by: [PERSON],
  format: ["pdf", "mail"],
  mode: "text",
  sort: "date",
  saved: ID,
};

describe("a saved search", () => {
  it("opens as the search that was saved", () => {
    expect(stateOf({ id: ID, parameters: { ...criteriaOf(full) } })).toEqual(full);
  });

  it("that says nothing of filters has none", () => {
    expect(stateOf({ id: ID, parameters: { q: "lease" } })).toEqual({ ...searchView.initial, q: "lease", saved: ID });
  });

  it("of another client is read with care: times become days, what the page does not know is left out", () => {
    const { from, format, kb } = stateOf({
      id: ID,
      parameters: { q: "lease", added_from: new Date(2026, 10, 1, 9).toISOString(), format: ["pdf", "cad"], kb_id: [7] },
    });
    expect([from, format, kb]).toEqual(["2026-11-01", ["pdf"], []]);
    expect(stateOf({ id: ID, parameters: { q: "lease", added_to: "1T" } }).to).toBe("");
  });

  it("is the same whatever the order of its values, and another one with another filter", () => {
    const two = { ...full, kb: [ID, KB] };
    expect(isSameSearch(two, { ...two, kb: [KB, ID], q: " notice period ", saved: "" })).toBe(true);
    for (const other of [{ q: "rent" }, { sort: "relevance" }, { from: "" }, { format: [] }] as const)
      expect(isSameSearch(full, { ...full, ...other })).toBe(false);
  });

  it("needs something to look for", () => {
    expect(criteriaOf({ ...full, q: "  " })).toBeNull();
  });
});

describe("the query", () => {
  it("takes both days whole, in the reader's zone", () => {
    const { added_from: first, added_to: last } = queryOf(full) ?? {};
    expect(first).toBe(new Date(2026, 10, 1).toISOString());
    expect(last).toBe(new Date(2026, 10, 15, 23, 59, 59, 999).toISOString());
  });

  it("asks for all of it, and only for what is chosen", () => {
    expect(queryOf(full)).toMatchObject({ kb_id: [KB], document_type: ["invoice", "contract"], uploaded_by: [PERSON], format: ["pdf", "mail"], sort: "date" });
    expect(Object.keys(queryOf({ ...full, ...WITHOUT_FILTERS }) ?? {}).sort()).toEqual(["limit", "mode", "q", "sort"]);
  });
});

it("names the filters in force in their order, and none after they were cleared", () => {
  expect(filtersOf(full)).toEqual(["kb", "type", "added", "by", "format"]);
  expect(filtersOf({ ...full, ...WITHOUT_FILTERS, to: "2026-11-15" })).toEqual(["added"]);
  expect(filtersOf({ ...full, ...WITHOUT_FILTERS })).toEqual([]);
});
