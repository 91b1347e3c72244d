import { describe, expect, it, vi } from "vitest";

import { NotFound, Unreachable } from "@/lib/api";
import type { LiveEvent, Progress } from "@/lib/live";

import { Following } from "./following";
import type { UploadItem } from "./item";
import type { UploadQueue } from "./queue";

const WORDS = { gone: "gone", failed: "failed" };
const progress = (status: Progress["status"], more: Partial<Progress> = {}): Progress => ({
  document_id: "d",
  kb_id: "kb",
  name: "a",
  status,
  processing_status: null,
  step: null,
  page: null,
  pages: null,
  total_pages: null,
  last_error: null,
  purpose: null,
  ...more,
});

function follow(
  look: (place: object) => Promise<{ status: Progress["status"]; last_error: string | null; failed_replacement?: { error: string } | null }> = () =>
    Promise.reject(new Unreachable("away")),
) {
  const item: UploadItem = {
    id: 1,
    kbId: "kb",
    file: new File(["x"], "a"),
    documentType: "other",
    replaces: null,
    documentId: "d",
    state: { kind: "reading" },
  };
  const items: UploadItem[] = [item];
  const finish = vi.fn();
  const reread = vi.fn();
  const drop = vi.fn();
  let tell: (event: LiveEvent) => void = () => undefined;
  const live = {
    listen: (listener: (event: LiveEvent) => void) => {
      tell = listener;
      return () => undefined;
    },
  };
  const following = new Following(
    { items: () => items, ofDocument: (id: string) => items.filter(({ documentId }) => documentId === id), finish, reread, drop } as unknown as UploadQueue,
    live,
    look as never,
    WORDS,
  );
  return { following, finish, reread, drop, items, item, tell: (event: LiveEvent) => tell(event), settle: () => new Promise((resolve) => setTimeout(resolve)) };
}

describe("following what is being read", () => {
  it("hears the end, and the reason of a failure", () => {
    const { finish, tell } = follow();
    tell({ type: "document", document: progress("processing") });
    expect(finish).not.toHaveBeenCalled();
    tell({ type: "document", document: progress("failed", { last_error: "damaged" }) });
    expect(finish).toHaveBeenLastCalledWith(1, "damaged");
    tell({ type: "document", document: progress("completed") });
    expect(finish).toHaveBeenLastCalledWith(1, null);
  });

  it("knows of an end that was told before the upload was answered", () => {
    const { following, finish, items, item, tell } = follow();
    items.length = 0;
    tell({ type: "document", document: progress("completed") });
    items.push(item);
    following.begin(item);
    expect(finish).toHaveBeenCalledWith(1, null);
  });

  it("takes the end of the old file for nothing when it is replaced", () => {
    const { following, finish, items, item, tell } = follow();
    items.length = 0;
    tell({ type: "document", document: progress("completed") });
    following.forget("d");
    items.push(item);
    following.begin(item);
    expect(finish).not.toHaveBeenCalled();
  });

  it("tells a file that was taken back from one that was read", async () => {
    const { finish, reread, items, item, tell, settle } = follow(async () => ({
      status: "completed",
      last_error: null,
      failed_replacement: { error: "damaged" },
    }));
    const replacing: UploadItem = { ...item, replaces: "d" };
    items[0] = replacing;
    tell({ type: "document", document: progress("completed") });
    expect(finish).not.toHaveBeenCalled();
    await settle();
    expect(finish).toHaveBeenCalledWith(1, "damaged", "replacing");
    items[0] = { ...replacing, state: { kind: "failed", during: "replacing", reason: "damaged" } };
    tell({ type: "document", document: progress("completed") });
    expect(reread).not.toHaveBeenCalled();
    tell({ type: "document", document: progress("pending") });
    expect(reread).toHaveBeenCalledWith(1);
  });

  it("asks about what a new snapshot does not name any more", async () => {
    const { finish, tell, settle } = follow(async () => ({ status: "completed", last_error: null }));
    tell({ type: "snapshot", documents: [progress("processing")], truncated: false });
    await settle();
    expect(finish).not.toHaveBeenCalled();
    tell({ type: "snapshot", documents: [], truncated: false });
    await settle();
    expect(finish).toHaveBeenCalledWith(1, null);
  });

  it("asks where the stream is blocked, and waits while nobody answers", async () => {
    const answers = [() => Promise.reject(new Unreachable("away")), () => Promise.resolve({ status: "completed" as const, last_error: null })];
    const { finish, tell, settle } = follow(() => (answers.shift() ?? answers[0])?.() as Promise<{ status: "completed"; last_error: null }>);
    tell({ type: "look" });
    await settle();
    expect(finish).not.toHaveBeenCalled();
    tell({ type: "look" });
    await settle();
    expect(finish).toHaveBeenCalledWith(1, null);
  });

  it("says of one that is gone that it is", async () => {
    const { finish, tell, settle } = follow(() =>
      Promise.reject(new NotFound("not there", { status: 404, body: null, requestId: null, retryAfterSeconds: null })),
    );
    tell({ type: "gone", documentId: "d" });
    expect(finish).toHaveBeenCalledWith(1, "gone");
    tell({ type: "look" });
    await settle();
    expect(finish).toHaveBeenCalledTimes(2);
  });

  it("takes back a failure when the document is read again, and forgets it when it is cleared", () => {
    const { items, item, reread, drop, tell } = follow();
    items[0] = { ...item, state: { kind: "failed", during: "reading", reason: "damaged" } };
    tell({ type: "document", document: progress("failed") });
    expect(reread).not.toHaveBeenCalled();
    tell({ type: "document", document: progress("pending") });
    expect(reread).toHaveBeenCalledWith(1);
    tell({ type: "gone", documentId: "d" });
    expect(drop).toHaveBeenCalledWith(1);
  });
});
