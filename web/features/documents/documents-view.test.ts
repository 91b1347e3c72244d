import { describe, expect, it } from "vitest";

import { documentsView, hasFilters, pageInstead, queryOf } from "./documents-view";

const parse = (query: string) => documentsView.parse(new URLSearchParams(query));

describe("the address of the documents page", () => {
  it("holds all of the view, and nothing where it is as usual", () => {
    const state = { ...documentsView.initial, id: "k", status: "failed", type: "invoice", q: "rent & heat", sort: "-file_size", page: 3, limit: 50 } as const;
    const href = documentsView.href("/kb", state);
    expect(href).toBe("/kb?id=k&status=failed&type=invoice&q=rent+%26+heat&sort=-file_size&page=3&limit=50");
    expect(parse(href.split("?")[1] ?? "")).toEqual(state);
    expect(documentsView.href("/kb", { ...documentsView.initial, id: "k" })).toBe("/kb?id=k");
  });

  it("that makes no sense is as usual", () => {
    const state = parse("id=k&status=archived&type=novel&sort=sha256&page=-1&limit=7");
    expect(state).toEqual({ ...documentsView.initial, id: "k" });
  });

  it("goes back to the first page with every change but that of the page", () => {
    const state = parse("id=k&page=4");
    expect(documentsView.after(state, { status: "failed" }).page).toBe(1);
    expect(documentsView.after(state, { limit: 100 }).page).toBe(1);
    expect(documentsView.after(state, { page: 5 }).page).toBe(5);
  });
});

describe("the question to the server", () => {
  it("leaves out what filters nothing", () => {
    expect(queryOf(parse("id=k"))).toEqual({ sort: "-created_at", page: 1, limit: 20 });
  });

  it("carries the filters", () => {
    expect(queryOf(parse("id=k&status=failed&type=care_plan&q=+rent+"))).toMatchObject({ status: ["failed"], document_type: ["care_plan"], search: "rent" });
  });

  it("is not refused for what somebody pasted", () => {
    expect(queryOf(parse(`id=k&q=${"x".repeat(300)}`)).search).toHaveLength(255);
    expect(queryOf(parse("id=k&q=a%00b")).search).toBe("ab");
    expect(hasFilters(parse("id=k&q=%20"))).toBe(false);
  });
});

describe("a page that is not there", () => {
  const state = parse("id=k&page=9&limit=10");
  it("is the last one", () => expect(pageInstead(state, { items: [], total: 12 })).toBe(2));
  it("is the first where nothing is left", () => expect(pageInstead(state, { items: [], total: 0 })).toBe(1));
  it("is none where there are rows", () => expect(pageInstead(state, { items: [1], total: 81 })).toBeNull());
});
