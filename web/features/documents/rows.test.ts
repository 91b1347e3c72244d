import { describe, expect, it } from "vitest";

import { accept, arrange, noRows, type Rows } from "./rows";

type Row = { id: string; status?: string };
const row = (id: string): Row => ({ id });
const rows = (ids: string) => [...ids].map(row);
const shown = (now: Rows<Row>) => now.rows.map(({ id }) => id).join("");
const NONE = new Map<string, Row>();
const see = (fresh: readonly Row[], more: { isHeld?: boolean; ghosts?: ReadonlyMap<string, Row>; limit?: number; key?: string } = {}) => ({
  key: "view",
  fresh,
  limit: 4,
  ghosts: NONE,
  isHeld: false,
  ...more,
});
const start = arrange<Row>(noRows, see(rows("abcd")));

describe("rows", () => {
  it("are those of the server at the top of the page", () => {
    expect(shown(arrange(start, see(rows("xabc"))))).toBe("xabc");
  });

  it("do not move while somebody reads further down: new ones wait", () => {
    const held = arrange(start, see(rows("xyab"), { isHeld: true }));
    expect(shown(held)).toBe("abcd");
    expect(held.waiting).toBe(2);
    expect(shown(accept(held))).toBe("xyab");
  });

  it("come in by themselves when the person is back at the top", () => {
    const fresh = rows("xabc");
    const held = arrange(start, see(fresh, { isHeld: true }));
    expect(shown(arrange(held, see(fresh)))).toBe("xabc");
  });

  it("show what is new about them in their place", () => {
    const changed = [row("a"), { id: "b", status: "failed" }, row("c"), row("d")];
    expect(arrange(start, see(changed, { isHeld: true })).rows[1]?.status).toBe("failed");
  });

  it("that are gone leave also while they are held; those that a new one pushed out stay", () => {
    expect(shown(arrange(start, see(rows("acd"), { isHeld: true })))).toBe("acd");
    expect(shown(arrange(start, see(rows("xabc"), { isHeld: true })))).toBe("abcd");
    expect(shown(arrange(start, see(rows("xacd"), { isHeld: true })))).toBe("acd");
  });

  it("begin anew in another view, whatever is held", () => {
    expect(shown(arrange(start, see(rows("pq"), { key: "other", isHeld: true })))).toBe("pq");
  });

  it("keep what was archived in its place while it can be undone", () => {
    const ghosts = new Map([["b", row("b")]]);
    const after = arrange(start, see(rows("acd"), { ghosts }));
    expect(shown(after)).toBe("abcd");
    expect(shown(arrange(after, see(rows("xacd"), { ghosts })))).toBe("xabcd");
    expect(shown(arrange(after, see(rows("acd"))))).toBe("acd");
  });

  it("keep the first of all where it was, also when it was archived", () => {
    expect(shown(arrange(start, see(rows("bcd"), { ghosts: new Map([["a", row("a")]]) })))).toBe("abcd");
  });

  it("keep several that were archived at once", () => {
    const ghosts = new Map(rows("bcd").map((each) => [each.id, each]));
    expect(shown(arrange(start, see(rows("a"), { ghosts })))).toBe("abcd");
  });

  it("are the same object when nothing is new", () => {
    const seen = see(rows("abcd"));
    const now = arrange(start, seen);
    expect(arrange(now, { ...seen })).toBe(now);
  });
});
