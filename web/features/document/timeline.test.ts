import { describe, expect, it } from "vitest";

import type { AuditEvent, Document, Run } from "@/lib/api";

import { sealsOf, timelineOf } from "./timeline";

const document = { created_at: "2026-11-12T13:58:00Z", uploaded_by: "u1", archived_at: null, handed_over_at: null } as Document;

const event = (action: string, at: string, payload: Record<string, unknown> = {}, seq: number | null = 1) =>
  ({ id: `${action}${at}`, action, at, payload, seq, actor: "u1", sealed: seq !== null }) as AuditEvent;

const run = (status: Run["status"], ended: string | null, error: string | null = null) =>
  ({
    id: `run${ended}`,
    purpose: "first",
    status,
    created_at: "2026-11-12T13:58:00Z",
    ended_at: ended,
    error: error ? { code: "encrypted", message: error } : null,
  }) as Run;

const said = (entries: ReturnType<typeof timelineOf>) => entries.map((entry) => `${entry.verb}${entry.rest.startsWith(":") ? "" : " "}${entry.rest}`.trim());

describe("timelineOf", () => {
  it("tells readings and moves in one line, newest first", () => {
    const entries = timelineOf(
      document,
      [run("completed", "2026-11-12T14:02:41Z"), run("failed", "2026-11-12T13:59:00Z", "the file is protected by a password"), run("in_progress", null)],
      [
        event("document_archive_confirmed", "2026-11-12T14:07:00Z", { paperless_doc_id: 5120 }),
        event("document_replaced", "2026-11-12T14:01:00Z", { old_name: "draft.pdf", new_name: "final.pdf" }),
        event("document_uploaded", "2026-11-12T13:58:00Z"),
      ],
    );
    expect(said(entries)).toEqual([
      "Stored in Paperless as document 5120",
      "Completed in 4\u00a0min\u00a041\u00a0s",
      "Replaced (previously 'draft.pdf')",
      "Failed: the file is protected by a password",
      "Uploaded",
    ]);
  });

  it("tells who may not read the trail when it came, and by whom", () => {
    const [only] = timelineOf(document, [], null);
    expect(only).toMatchObject({ verb: "Uploaded", actor: "u1", seal: null });
  });

  it("has words for an action that it does not know", () => {
    expect(said(timelineOf(document, [], [event("document_legal_hold_set", "2026-11-12T13:58:00Z")]))).toEqual(["Legal hold set"]);
  });
});

it("counts what is sealed; readings are no lines of the trail", () => {
  const entries = timelineOf(
    document,
    [run("completed", "2026-11-12T14:02:41Z")],
    [event("a", "2026-11-12T13:58:00Z"), event("b", "2026-11-12T13:59:00Z", {}, null)],
  );
  expect(sealsOf(entries)).toEqual({ lines: 2, sealed: 1 });
});
