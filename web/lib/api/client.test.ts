import { afterEach, describe, expect, it, vi } from "vitest";

import { call, secondsOf, urlOf } from "./client";
import * as errors from "./errors";

const ME = "/api/v1/auth/me";

/** The next answer of the server. */
function answers(status: number, body: unknown = null, headers: Record<string, string> = {}) {
  const fetching = vi.fn(() => Promise.resolve(new Response(body === null ? null : JSON.stringify(body), { status, headers })));
  vi.stubGlobal("fetch", fetching);
  return fetching;
}

const failure = async (): Promise<unknown> =>
  call("get", ME, {}).then(
    () => null,
    (error: unknown) => error,
  );

afterEach(() => vi.unstubAllGlobals());

describe("an answer becomes a typed error", () => {
  it.each([
    [400, errors.Refused],
    [401, errors.NotSignedIn],
    [403, errors.PermissionDenied],
    [404, errors.NotFound],
    [408, errors.Unavailable],
    [409, errors.Conflict],
    [413, errors.TooLarge],
    [415, errors.Unsupported],
    [422, errors.Invalid],
    [429, errors.TooManyRequests],
    [500, errors.ServerFailed],
    [502, errors.Unavailable],
    [503, errors.Unavailable],
    [507, errors.StorageFull],
    [418, errors.ServerFailed],
  ])("%d", async (status, kind) => {
    answers(status, { detail: "A sentence" }, { "X-Request-ID": "req-1" });
    const error = await failure();
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ message: "A sentence", status, requestId: "req-1" });
  });

  it.each([
    [429, "too_many_queued_runs", errors.QueueFull],
    [507, "quota_exceeded", errors.QuotaExceeded],
  ])("%d by its code %s", async (status, code, kind) => {
    answers(status, { detail: "A sentence", code });
    const error = await failure();
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ message: "A sentence", status });
  });

  it("with the document that has the name", async () => {
    answers(409, { error: "duplicate_document", existing_document_id: "d1", existing_status: "archived", message: "A document with this name already exists" });
    const error = await failure();
    expect(error).toBeInstanceOf(errors.DuplicateDocument);
    expect(error).toBeInstanceOf(errors.Conflict);
    expect(error).toMatchObject({ existingId: "d1", existingStatus: "archived", message: "A document with this name already exists" });
  });

  it("with the organizations to choose from", async () => {
    const organizations = [{ id: "a", name: "Alfa AS" }];
    answers(409, { detail: "Choose one.", organizations });
    const error = await failure();
    expect(error).toBeInstanceOf(errors.SeveralOrganizations);
    expect(error).toMatchObject({ message: "Choose one.", organizations });
  });

  it("that knows the collision of a restore from other conflicts", async () => {
    answers(409, { detail: "Cannot restore: a document with this name already exists" });
    expect(await failure()).toBeInstanceOf(errors.NameTaken);
    answers(409, { detail: "An account with this email already exists" });
    expect(await failure()).not.toBeInstanceOf(errors.NameTaken);
  });

  it("with the fields that are wrong", async () => {
    answers(422, { detail: [{ loc: ["body", "name"], msg: "String should have at least 1 character", type: "x" }] });
    const error = await failure();
    expect(error).toMatchObject({ problems: [{ field: "name", message: "String should have at least 1 character" }] });
    expect((error as Error).message).toBe("name: String should have at least 1 character");
  });

  it("with the seconds to wait", async () => {
    answers(429, { detail: "Slow down" }, { "Retry-After": "17" });
    expect(await failure()).toMatchObject({ retryAfterSeconds: 17 });
    answers(503, { error: "Document archived pending. Retry in 5 minutes.", code: "ARCHIVE_QUEUE_FAILURE" });
    expect(await failure()).toMatchObject({ message: "Document archived pending. Retry in 5 minutes.", retryAfterSeconds: 5 });
  });

  it("also where a proxy answers with a page", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("<html>Bad gateway</html>", { status: 502 })));
    const error = await failure();
    expect(error).toBeInstanceOf(errors.Unavailable);
    expect((error as Error).message).toBe("HTTP 502");
  });
});

describe("no answer", () => {
  it("is unreachable, which passes", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("fetch failed")));
    const error = await failure();
    expect(error).toBeInstanceOf(errors.Unreachable);
    expect(errors.isPassing(error)).toBe(true);
  });

  it("is given up after the timeout", async () => {
    vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => {
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
    });
    const error = await call("get", ME, { timeout: 0.01 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(errors.TimedOut);
  });

  it("that nobody waits for any more is no failure of the server", async () => {
    const nobody = new AbortController();
    vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => {
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
    });
    const waiting = call("get", ME, { signal: nobody.signal }).catch((reason: unknown) => reason);
    nobody.abort();
    expect(await waiting).not.toBeInstanceOf(errors.Unreachable);
  });
});

describe("a request", () => {
  it("carries its body as JSON, and none where there is none", async () => {
    const fetching = answers(200, {});
    await call("post", "/api/v1/auth/login", { body: { email: "a@b", password: "c" } });
    expect(fetching).toHaveBeenCalledWith("/api/v1/auth/login", expect.objectContaining({ method: "POST", body: '{"email":"a@b","password":"c"}' }));
    await call("get", ME, {});
    expect(fetching).toHaveBeenLastCalledWith(ME, expect.not.objectContaining({ body: expect.anything() as unknown }));
  });

  it("gives null for an answer without content", async () => {
    answers(204);
    expect(await call("post", "/api/v1/auth/logout", {})).toBeNull();
  });

  it("fills and escapes its path, and repeats lists", () => {
    expect(urlOf("/kb/{kb_id}/x/{doc_id}", { path: { kb_id: "a b", doc_id: "../c?" }, query: { status: ["x", "y"], q: "", page: 2, none: undefined } })).toBe(
      "/kb/a%20b/x/..%2Fc%3F?status=x&status=y&page=2",
    );
    expect(urlOf("/dead/{key}", { path: { key: "org/1/invoice/ä.pdf" } })).toBe("/dead/org/1/invoice/%C3%A4.pdf");
  });

  it("leads to no other path of the API, whatever an address says", () => {
    const url = (value: string) => urlOf("/api/v1/documents/{doc_id}/text", { path: { doc_id: value } });
    expect(new URL(url("../auth/me#"), "http://host").pathname).toBe("/api/v1/documents/..%2Fauth%2Fme%23/text");
    for (const value of ["..", ".", ""]) expect(() => url(value)).toThrow(errors.NotFound);
    expect(() => urlOf("/dead/{key}", { path: { key: "org/../../auth/me" } })).toThrow(errors.NotFound);
  });

  it("counts seconds and no dates", () => {
    expect([secondsOf("5"), secondsOf("0"), secondsOf(null), secondsOf("Mon, 16 Nov 2026 09:00:00 GMT"), secondsOf("-1")]).toEqual([5, 0, null, null, null]);
  });
});
