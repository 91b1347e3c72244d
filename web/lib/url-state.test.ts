import { describe, expect, it } from "vitest";

import { day, defineView, flag, identifiers, integer, manyOf, oneOf, oneOfNumbers, PAGE_SIZES, text } from "./url-state";

const A = "0199a3f2-aaaa-7000-8000-000000000001";
const B = "0199a3f2-bbbb-7000-8000-000000000002";
const STATUSES = ["pending", "completed", "failed"] as const;
const view = defineView({
  id: text(),
  q: text(),
  status: manyOf(STATUSES),
  sort: oneOf(["name", "-name", "-created_at"], "-created_at"),
  from: day(),
  kb: identifiers(),
  all: flag(),
  page: integer(1),
  limit: oneOfNumbers(PAGE_SIZES, 20),
});
const parse = (query: string) => view.parse(new URLSearchParams(query));

describe("a view", () => {
  it("comes back from its own address, whatever stands in it", () => {
    const state = {
      id: "01a3",
      q: "Straße & Søn + 50 %?",
      status: ["completed", "failed"] as const,
      sort: "name" as const,
      from: "2026-02-28",
      kb: [B, A],
      all: true,
      page: 7,
      limit: 100 as const,
    };
    const href = view.href("/kb", state);
    expect(parse(href.slice(href.indexOf("?")))).toEqual(state);
  });

  it("has no address where everything is as it is at first", () => {
    expect(view.href("/kb", view.initial)).toBe("/kb");
    expect(parse("")).toEqual(view.initial);
  });

  it("takes nonsense for the default", () => {
    const nonsense = "status=gone&sort=size&from=2026-13-45&page=-2&limit=37&all=yes&id=";
    expect(parse(nonsense)).toEqual(view.initial);
    for (const page of ["0", "1.5", "1e3", "0x10", " 2", "99999999999"]) expect(parse(`page=${page}`).page).toBe(1);
  });

  it("keeps several values in one order, each once", () => {
    expect(parse("status=failed&status=pending&status=failed").status).toEqual(["pending", "failed"]);
    expect(parse(`kb=${B}&kb=&kb=${A}&kb=${B.toUpperCase()}&kb=../me`).kb).toEqual([B, A]);
  });

  it("goes back to the first page with every change but that of the page", () => {
    const seventh = { ...view.initial, page: 7 };
    expect(view.after(seventh, { q: "lease" }).page).toBe(1);
    expect(view.after(seventh, { limit: 50 }).page).toBe(1);
    expect(view.after(seventh, { page: 8 })).toEqual({ ...seventh, page: 8 });
    expect(view.after(seventh, { all: true, page: 7 }).page).toBe(7);
  });

  it("has no page to go back to where it has none at all", () => {
    const small = defineView({ q: text() });
    expect(small.after({ q: "a" }, { q: "b" })).toEqual({ q: "b" });
  });
});
