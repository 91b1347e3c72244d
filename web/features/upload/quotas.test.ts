import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { QueueFull, QuotaExceeded } from "@/lib/api";

import type { UploadItem } from "./item";
import { wordsOf } from "./line-words";
import { UploadQueue } from "./queue";
import type { Transport } from "./transport";

const answer = (status: number) => ({ status, body: null, requestId: null, retryAfterSeconds: 7 });
const upload = vi.fn<Transport["upload"]>();
const notNeeded = () => Promise.reject(new Error("not needed"));

let queue: UploadQueue;
const first = () => queue.items()[0] as UploadItem;
const words = () => wordsOf(first(), undefined).words;

beforeEach(() => {
  vi.useFakeTimers();
  upload.mockReset();
  queue = new UploadQueue({
    upload,
    uploadSeveral: notNeeded,
    replace: notNeeded,
    look: notNeeded,
    digest: notNeeded,
    me: notNeeded,
    isThere: async () => true,
  });
});
afterEach(() => vi.useRealTimers());

describe("an organization with quotas", () => {
  it("whose queue is full has its files sent again and again until there is room", async () => {
    for (let attempt = 0; attempt < 6; attempt += 1) upload.mockRejectedValueOnce(new QueueFull("Too many documents are waiting", answer(429)));
    upload.mockResolvedValueOnce({ documentId: "new", hasCleared: false });
    queue.add("kb", [new File(["text"], "a")], "other");
    await vi.advanceTimersByTimeAsync(0);
    expect(first().state).toEqual({ kind: "paused", why: "queueFull" });
    expect(words()).toBe("Paused: too many documents are waiting to be processed");
    await vi.advanceTimersByTimeAsync(6 * 7_000);
    expect(first().state.kind).toBe("reading");
    expect(upload).toHaveBeenCalledTimes(7);
  });

  it("that has no space left is told so in the server's own words, once", async () => {
    upload.mockRejectedValue(new QuotaExceeded("Your organization has reached its quota", answer(507)));
    queue.add("kb", [new File(["text"], "a")], "other");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(words()).toBe("Failed: Your organization has reached its quota");
    expect(upload).toHaveBeenCalledTimes(1);
  });
});
