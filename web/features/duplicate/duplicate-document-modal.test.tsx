import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Status } from "@/lib/api";

import { DuplicateDocumentModal } from "./duplicate-document-modal";
import type { Asking } from "./forms";

const EXISTING = {
  id: "old",
  kb_id: "kb",
  name: "lease.txt",
  file_size: 18,
  sha256: "abc",
  created_at: "2026-11-12T10:00:00Z",
  archived_at: null,
  total_pages: 3,
  revision: 1,
  completed_at: "2026-11-12T10:00:00Z",
};

const asked: string[] = [];
/** What the server answers, by the end of the address. */
function answerWith(status: Status, more: Record<string, { status: number; body: object }> = {}) {
  const known: Record<string, { status: number; body: object }> = {
    "/knowledge-bases/kb": { status: 200, body: { id: "kb", name: "Deeds", role: "owner" } },
    "/documents/old": { status: 200, body: { ...EXISTING, status } },
    ...more,
  };
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    asked.push(`${init.method} ${url}`);
    const found = Object.entries(known).find(([end]) => url.endsWith(end))?.[1] ?? { status: 404, body: { detail: "Not found" } };
    return Promise.resolve(new Response(JSON.stringify(found.body), { status: found.status }));
  });
}

function show(existingStatus: Status) {
  const item: Asking = {
    id: 1,
    kbId: "kb",
    file: new File(["The second version."], "lease.txt", { lastModified: Date.parse("2026-11-15T10:00:00Z") }),
    documentType: "other",
    replaces: null,
    documentId: null,
    state: { kind: "asking", existingId: "old", existingStatus },
  };
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <DuplicateDocumentModal item={item} waiting={[item]} number={1} all={1} />
    </QueryClientProvider>,
  );
}

beforeEach(() => {
  asked.length = 0;
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("DuplicateDocumentModal", () => {
  it("says what to do when an active document has the name of the archived one", async () => {
    const taken = { status: 409, body: { detail: "Cannot restore: a document with this name already exists" } };
    answerWith("archived", { "/restore": taken });
    show("archived");
    await userEvent.click(await screen.findByRole("button", { name: "Restore Existing" }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("Cannot restore: a document with this name already exists");
    expect(alert.textContent).toContain("Archive or replace the active document, then restore this one.");
  });

  it("asks a second time before it replaces, and goes back without having asked the server for anything", async () => {
    answerWith("completed");
    show("completed");
    await userEvent.click(await screen.findByRole("button", { name: "Replace Existing" }));
    expect(await screen.findByText("This will delete the existing document and upload the new version. Continue?")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Back" }));
    expect(await screen.findByRole("button", { name: "Replace Existing" })).toBeTruthy();
    expect(asked.filter((request) => !request.startsWith("GET"))).toEqual([]);
  });

  it("follows the document that it asks about, not what the refusal once said", async () => {
    answerWith("completed");
    show("processing");
    expect(await screen.findByRole("button", { name: "Replace Existing" })).toBeTruthy();
    expect(screen.queryByText(/Cannot replace document/)).toBeNull();
  });
});
