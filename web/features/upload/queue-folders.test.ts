import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Refused, TooLarge, TooManyRequests, Unreachable } from "@/lib/api";

import { UploadQueue } from "./queue";
import { answer, duplicate, file, Server, type Batch } from "./test-server";

let server: Server;
let queue: UploadQueue;
const settle = () => vi.advanceTimersByTimeAsync(0);
const kinds = () => queue.items().map((item) => item.state.kind);

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-16T10:00:00Z") });
  server = new Server();
  queue = new UploadQueue(server);
});
afterEach(() => vi.useRealTimers());

describe("a folder of many files", () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => file(`f${index}`));
  const sent = (name: string) => ({ documentId: `d${name}`, hasCleared: false });
  const stateOf = (name: string) => queue.items().find((item) => item.file.name === name)?.state;
  const batch = (index: number) => server.batches[index] as Batch;
  const start = () => queue.add("kb", numbered(60), "invoice");

  it("goes in three requests of several files at a time, and each file gets its own document", async () => {
    start();
    expect(server.requests).toHaveLength(0);
    expect(server.batches.map(({ names }) => names.length)).toEqual([20, 14, 9]);
    batch(1).answer(batch(1).names.map(sent));
    await settle();
    expect(queue.ofDocument("df20").map((item) => [item.file.name, item.state.kind])).toEqual([["f20", "reading"]]);
    expect(stateOf("f0")?.kind).toBe("sending");
  });

  it("has no progress for a file before its own bytes leave", () => {
    start();
    batch(0).progress(30, 80 + 720); // of 20 files with 4 bytes each, in a form
    expect(stateOf("f0")).toEqual({ kind: "sending", sent: 3, total: 4 });
    expect(stateOf("f1")).toEqual({ kind: "queued" });
    batch(0).progress(800, 800);
    expect(stateOf("f19")).toEqual({ kind: "sending", sent: 4, total: 4 });
  });

  it("goes on after a file that is refused, and asks about one whose name is taken", async () => {
    start();
    const { names, answer: reply } = batch(0);
    reply(names.map((name, index) => (index === 1 ? { error: new Refused("empty", answer(422)) } : index === 2 ? { error: duplicate("old") } : sent(name))));
    await settle();
    expect(["f0", "f1", "f2", "f3"].map((name) => stateOf(name)?.kind)).toEqual(["reading", "failed", "asking", "reading"]);
  });

  it("knows two files of one name for two files", async () => {
    server.documents.set("df0", {
      sha256: "hash of f0",
      file_size: 4,
      uploaded_by: "me",
      created_at: "2026-11-16T10:00:01Z",
      updated_at: "2026-11-16T10:00:01Z",
    });
    queue.add("kb", [file("f0"), file("f0"), ...numbered(58)], "other");
    batch(0).answer([sent("f0"), { error: duplicate("df0") }, ...batch(0).names.slice(2).map(sent)]);
    await settle();
    expect(kinds().slice(0, 2)).toEqual(["reading", "asking"]);
  });

  it("stops one file that is cancelled, and sends the others of its request again: what had arrived is no duplicate", async () => {
    start();
    const f0 = { sha256: "hash of f0", file_size: 4, uploaded_by: "me", created_at: "2026-11-16T09:59:00Z", updated_at: "2026-11-16T09:59:00Z" };
    server.documents.set("df0", f0); // by a clock that is a minute behind
    queue.drop(queue.items()[1]?.id ?? 0);
    await settle();
    expect(batch(0).signal.aborted).toBe(true);
    expect(batch(1).signal.aborted).toBe(false);
    const again = server.batches.at(-1) as Batch;
    expect(again.names).toContain("f0");
    expect(again.names).not.toContain("f1");
    again.answer(again.names.map((name) => (name === "f0" ? { error: duplicate("df0") } : sent(name))));
    await settle();
    expect(stateOf("f0")).toEqual({ kind: "reading" });
  });

  it("is sent file by file where the connection breaks, so that one bad file holds up no other", async () => {
    start();
    batch(0).fail(new Unreachable("away"));
    await settle();
    expect(stateOf("f19")).toEqual({ kind: "paused", why: "away" });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.requests.map(({ name }) => name)).toEqual(["f0"]);
  });

  it("is sent in smaller requests to a server that takes fewer files at once", async () => {
    start();
    const { names, answer: reply } = batch(0);
    reply([...names.slice(0, 5).map(sent), { error: new TooLarge("A request can have at most 5 files", answer(413)) }]);
    await settle();
    expect(["f4", "f5", "f6"].map((name) => stateOf(name)?.kind)).toEqual(["reading", "sending", "queued"]);
    expect(server.batches.at(-1)?.names).toHaveLength(10);
    batch(1).fail(new TooLarge("too many bytes", answer(413)));
    await settle();
    expect(server.batches.at(-1)?.names).toHaveLength(5);
  });

  it("sends what has no answer once more", async () => {
    start();
    batch(0).answer(batch(0).names.slice(0, 18).map(sent));
    await settle();
    expect(server.requests.map(({ name }) => name)).toEqual(["f18"]);
  });

  it("waits as long as the server says where one of its files was too much", async () => {
    start();
    batch(0).answer([{ error: new TooManyRequests("slow down", answer(429)) }, ...batch(0).names.slice(1).map(sent)]);
    await settle();
    expect(stateOf("f0")).toEqual({ kind: "paused", why: "busy" });
    expect(server.batches).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(server.batches.length + server.requests.length).toBe(4);
  });

  it("tells those who watch a few times a second, and the last change in any case", async () => {
    const watcher = vi.fn();
    queue.watch(watcher);
    start();
    for (let done = 1; done <= 500; done += 1) batch(0).progress(done, 500);
    expect(watcher).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(watcher).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(watcher).toHaveBeenCalledTimes(2);
  });
});
