import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Refused, TooManyRequests, Unreachable } from "@/lib/api";

import type { UploadItem } from "./item";
import { UploadQueue } from "./queue";
import { answer, duplicate, file, files, Server } from "./test-server";

let server: Server;
let queue: UploadQueue;
const settle = () => vi.advanceTimersByTimeAsync(0);
const kinds = () => queue.items().map((item) => item.state.kind);
const first = () => queue.items()[0] as UploadItem;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-16T10:00:00Z") });
  server = new Server();
  queue = new UploadQueue(server);
});
afterEach(() => vi.useRealTimers());

describe("the queue", () => {
  it("sends three at a time, the others when one of them is through", async () => {
    queue.add("kb", files("a", "b", "c", "d", "e"), "other");
    expect(server.requests.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(kinds()).toEqual(["sending", "sending", "sending", "queued", "queued"]);
    server.requests[1]?.answer({ documentId: "1", hasCleared: false });
    await settle();
    expect(server.requests.map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
  });

  it("keeps the place of one that fails free for the next", async () => {
    queue.add("kb", files("a", "b", "c", "d"), "other");
    server.requests[0]?.fail(new Refused("empty", answer(400)));
    await settle();
    expect(kinds()).toEqual(["failed", "sending", "sending", "sending"]);
  });

  it("shows what has left the machine", () => {
    queue.add("kb", [file("a")], "other");
    server.requests[0]?.progress(3, 12);
    expect(first().state).toEqual({ kind: "sending", sent: 3, total: 12 });
  });

  it("stops what is cancelled, and goes on with the next", () => {
    queue.add("kb", files("a", "b", "c", "d"), "other");
    queue.drop(first().id);
    expect(server.requests[0]?.signal.aborted).toBe(true);
    expect(queue.items().map((item) => item.file.name)).toEqual(["b", "c", "d"]);
  });

  it("tries again what a person wants tried again", async () => {
    queue.add("kb", [file("a")], "other");
    server.requests[0]?.fail(new Refused("empty", answer(400)));
    await settle();
    queue.again(first().id);
    expect(kinds()).toEqual(["sending"]);
  });

  it("lets what is done leave after six seconds, and counts it until all is over", async () => {
    queue.add("kb", [file("a"), file("b")], "other");
    for (const request of server.requests) request.answer({ documentId: request.name, hasCleared: false });
    await settle();
    queue.finish(first().id, null);
    expect(kinds()).toEqual(["done", "reading"]);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(kinds()).toEqual(["reading"]);
    expect(queue.doneBefore).toBe(1);
    queue.finish(first().id, null);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(queue.doneBefore).toBe(0);
  });

  it("keeps what could not be read, with its reason", async () => {
    queue.add("kb", [file("a")], "other");
    server.requests[0]?.answer({ documentId: "1", hasCleared: false });
    await settle();
    queue.finish(first().id, "damaged");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(first().state).toEqual({ kind: "failed", during: "reading", reason: "damaged" });
  });
});

describe("a taken name", () => {
  it("is asked about, and does not hold the others up", async () => {
    queue.add("kb", files("a", "b", "c", "d"), "other");
    server.requests[0]?.fail(duplicate("old", "archived"));
    await settle();
    expect(first().state).toEqual({ kind: "asking", existingId: "old", existingStatus: "archived" });
    expect(server.requests).toHaveLength(4);
  });

  it("is sent once more as a replacement when that was decided", async () => {
    queue.add("kb", [file("a")], "other");
    server.requests[0]?.fail(duplicate("old"));
    await settle();
    queue.again(first().id, { replaces: "old" });
    expect(server.requests[1]).toMatchObject({ name: "a", replaces: "old" });
  });

  it("of a replacement is a failure: it has decided already", async () => {
    queue.replace("kb", "mine", file("a"));
    server.requests[0]?.fail(duplicate("other"));
    await settle();
    expect(kinds()).toEqual(["failed"]);
  });
});

describe("a server that is away", () => {
  const breakOff = async () => {
    server.requests.at(-1)?.fail(new Unreachable("away"));
    await settle();
  };

  it("pauses everything, knocks, and sends again when it is back", async () => {
    server.isUp = false;
    queue.add("kb", [file("a")], "other");
    await breakOff();
    expect(kinds()).toEqual(["paused"]);
    queue.add("kb", [file("b")], "other");
    await vi.advanceTimersByTimeAsync(7_000);
    expect(server.requests).toHaveLength(1);
    expect(server.knocks).toBe(3);
    server.isUp = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.requests.map(({ name }) => name)).toEqual(["a", "a", "b"]);
  });

  it("is looked for at once when something says that it is back", async () => {
    queue.add("kb", [file("a")], "other");
    await breakOff();
    queue.wake();
    await settle();
    expect(server.requests).toHaveLength(2);
  });

  it("that asks for patience is not asked before its time", async () => {
    queue.add("kb", [file("a")], "other");
    server.requests[0]?.fail(new TooManyRequests("slow down", answer(429)));
    await settle();
    expect(first().state).toEqual({ kind: "paused", why: "busy" });
    queue.wake();
    await vi.advanceTimersByTimeAsync(6_900);
    expect(server.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(server.requests).toHaveLength(2);
  });

  it("that is there while one file breaks off every time gives that file up", async () => {
    queue.add("kb", [file("a")], "other");
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await breakOff();
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(kinds()).toEqual(["failed"]);
    expect(server.requests).toHaveLength(4);
  });

  const arrived = { sha256: "hash of a", file_size: 4, uploaded_by: "me", created_at: "2026-11-16T10:00:01Z", updated_at: "2026-11-16T10:00:01Z" };
  const resend = async (found: typeof arrived) => {
    server.documents.set("new", found);
    queue.add("kb", [file("a")], "other");
    await breakOff();
    await vi.advanceTimersByTimeAsync(1_000);
    server.requests[1]?.fail(duplicate("new", "pending"));
    await settle();
  };

  it("and had the file already is a success, not a duplicate", async () => {
    await resend(arrived);
    expect(first()).toMatchObject({ state: { kind: "reading" }, documentId: "new" });
  });

  it.each([
    ["other contents", { sha256: "another" }],
    ["another size", { file_size: 5 }],
    ["another person's", { uploaded_by: "somebody" }],
    ["one from before", { created_at: "2026-11-16T09:00:00Z" }],
  ])("and has %s under that name is a duplicate", async (_, other) => {
    await resend({ ...arrived, ...other });
    expect(kinds()).toEqual(["asking"]);
  });

  it("makes no difference to a browser that sent the file twice by itself", async () => {
    server.documents.set("new", arrived);
    queue.add("kb", [file("a")], "other");
    server.requests[0]?.fail(duplicate("new"));
    await settle();
    expect(kinds()).toEqual(["reading"]);
  });

  it("makes no success of a duplicate that was there before the first attempt", async () => {
    server.documents.set("new", { ...arrived, created_at: "2026-11-16T09:59:59Z" });
    queue.add("kb", [file("a")], "other");
    server.requests[0]?.fail(duplicate("new"));
    await settle();
    expect(kinds()).toEqual(["asking"]);
  });

  it("makes no success of a duplicate of another file of this queue", async () => {
    server.documents.set("new", arrived);
    queue.add("kb", [file("a"), file("a")], "other");
    server.requests[0]?.answer({ documentId: "new", hasCleared: false });
    await settle();
    server.requests[1]?.fail(duplicate("new"));
    await settle();
    expect(kinds()).toEqual(["reading", "asking"]);
  });

  it("and had the replacement already is not sent it again", async () => {
    server.documents.set("mine", { ...arrived, created_at: "2020-01-01T00:00:00Z" });
    queue.replace("kb", "mine", file("a"));
    await breakOff();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.requests).toHaveLength(1);
    expect(kinds()).toEqual(["reading"]);
  });
});
