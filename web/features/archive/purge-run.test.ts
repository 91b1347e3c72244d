import { describe, expect, it, vi } from "vitest";

import { NotFound, TooManyRequests, Unreachable, type ArchivedDocument, type BulkPurged } from "@/lib/api";
import { archive as t } from "@/text";

import { batchesOf } from "./purge-batches";
import { countsOf, runPurge, type PurgeWorld } from "./purge-run";

const archived = (id: string, kbId = "kb-1") => ({ id, kb_id: kbId, name: `${id}.pdf` }) as ArchivedDocument;
const many = (count: number, kbId: string) => Array.from({ length: count }, (_, index) => archived(`${kbId}-${index}`, kbId));
const answer = (given: Partial<BulkPurged>): BulkPurged => ({ purged: 0, skipped: 0, skipped_ids: [], pending_ids: [], failed_ids: [], message: "", ...given });
const tooMany = (seconds: number) => new TooManyRequests("Too many", { status: 429, body: null, requestId: null, retryAfterSeconds: seconds });
const notFound = () => new NotFound("Document not found", { status: 404, body: null, requestId: null, retryAfterSeconds: null });

function world(given: Partial<PurgeWorld>): PurgeWorld {
  return {
    purge: async () => answer({}),
    receipts: async () => new Map(),
    whyNot: async () => null,
    wait: async () => undefined,
    ...given,
  };
}

const go = (documents: readonly ArchivedDocument[], given: Partial<PurgeWorld>, signal = new AbortController().signal) =>
  runPurge(batchesOf(documents), world(given), signal);

describe("splitting", () => {
  it("makes one call for each knowledge base and each hundred, and loses none", () => {
    const documents = [...many(150, "a"), ...many(3, "b"), ...many(60, "a").map((one) => ({ ...one, id: `again-${one.id}` }))];
    const batches = batchesOf(documents);
    expect(batches.map((batch) => [batch.kbId, batch.documents.length])).toEqual([
      ["a", 100],
      ["a", 100],
      ["a", 10],
      ["b", 3],
    ]);
    expect(new Set(batches.flatMap((batch) => batch.documents.map((one) => one.id))).size).toBe(213);
  });

  it("makes no call for nothing", () => {
    expect(batchesOf([])).toEqual([]);
  });
});

describe("a purge of many", () => {
  it("names the receipt of each, what follows, and why one was skipped", async () => {
    const fates = await go([archived("a"), archived("b"), archived("c")], {
      purge: async () => answer({ purged: 2, skipped: 1, skipped_ids: ["c"], pending_ids: ["b"] }),
      receipts: async () => new Map([["a", "receipt-a"]]),
      whyNot: async () => "Only archived documents can be purged",
    });
    expect(Object.fromEntries(fates)).toEqual({
      a: { kind: "receipt", receiptId: "receipt-a" },
      b: { kind: "follows" },
      c: { kind: "skipped", why: "Only archived documents can be purged" },
    });
    expect(countsOf(fates)).toEqual({ purged: 2, skipped: 1, failed: 0, left: 0 });
  });

  it("waits as long as the server says, and then does the same call again", async () => {
    const purge = vi
      .fn<PurgeWorld["purge"]>()
      .mockRejectedValueOnce(tooMany(23))
      .mockResolvedValue(answer({ purged: 1 }));
    const wait = vi.fn<PurgeWorld["wait"]>().mockResolvedValue();
    const fates = await go([archived("a")], { purge, wait });
    expect(wait.mock.calls.map(([seconds]) => seconds)).toEqual([23]);
    expect(purge.mock.calls).toEqual([
      ["kb-1", ["a"]],
      ["kb-1", ["a"]],
    ]);
    expect(fates.get("a")).toEqual({ kind: "follows" });
  });

  it("leaves the rest alone when it is stopped while it waits", async () => {
    const stop = new AbortController();
    const purge = vi
      .fn<PurgeWorld["purge"]>()
      .mockResolvedValueOnce(answer({ purged: 1 }))
      .mockRejectedValue(tooMany(60));
    const fates = await go([archived("a"), archived("b", "kb-2"), archived("c", "kb-3")], { purge, wait: async () => stop.abort() }, stop.signal);
    expect([...fates.values()].map((fate) => fate.kind)).toEqual(["follows", "left", "left"]);
    expect(purge).toHaveBeenCalledTimes(2);
  });

  it("goes on with the next knowledge base when one call fails", async () => {
    const purge = vi
      .fn<PurgeWorld["purge"]>()
      .mockRejectedValueOnce(new Unreachable("away"))
      .mockResolvedValue(answer({ purged: 1 }));
    const fates = await go([archived("a"), archived("b", "kb-2")], { purge });
    expect(fates.get("a")).toEqual({ kind: "failed", why: t.result.noAnswer });
    expect(fates.get("b")).toEqual({ kind: "follows" });
  });

  it("says of a skipped one that is gone, that it is gone", async () => {
    const fates = await go([archived("a")], { purge: async () => answer({ skipped: 1, skipped_ids: ["a"] }), whyNot: () => Promise.reject(notFound()) });
    expect(fates.get("a")).toEqual({ kind: "skipped", why: t.result.gone });
  });
});
