/** From an answer to a typed error. One table, as `http/errors.py` has one. */
import * as errors from "./errors";
import type { Answer, Problem } from "./errors";
import type { Status } from "./types";

type Plain = new (message: string, answer: Answer) => errors.ApiError;

const BY_STATUS: Readonly<Record<number, Plain>> = {
  400: errors.Refused,
  401: errors.NotSignedIn,
  403: errors.PermissionDenied,
  404: errors.NotFound,
  408: errors.Unavailable,
  413: errors.TooLarge,
  415: errors.Unsupported,
  429: errors.TooManyRequests,
  502: errors.Unavailable,
  503: errors.Unavailable,
  504: errors.Unavailable,
  507: errors.StorageFull,
};

/** Errors whose body has a `code`: docs/design.md#quotas. */
const BY_CODE: Readonly<Record<string, Plain>> = {
  quota_exceeded: errors.QuotaExceeded,
  too_many_queued_runs: errors.QueueFull,
};

/** docs/contracts.md#restore: the one 409 that has no body of its own to know it by. */
const NAME_TAKEN = /with this name already exists/i;
const STATUSES: readonly string[] = ["pending", "processing", "completed", "failed", "archived"] satisfies Status[];

export function errorOf(answer: Answer): errors.ApiError {
  const { body } = answer;
  if (answer.status === 409) return conflictOf(answer);
  if (answer.status === 422) return new errors.Invalid(sentenceOf(answer), answer, problemsOf(body));
  const code = isRecord(body) && typeof body.code === "string" ? body.code : "";
  const Kind = BY_CODE[code] ?? BY_STATUS[answer.status] ?? errors.ServerFailed;
  return new Kind(sentenceOf(answer), answer);
}

function conflictOf(answer: Answer): errors.ApiError {
  const { body } = answer;
  const sentence = sentenceOf(answer);
  if (isRecord(body) && body.error === "duplicate_document" && isStatus(body.existing_status)) {
    const existing = { id: String(body.existing_document_id), status: body.existing_status };
    return new errors.DuplicateDocument(sentence, answer, existing);
  }
  if (isRecord(body) && Array.isArray(body.organizations)) {
    const organizations = body.organizations.filter(isRecord).map(({ id, name }) => ({ id: String(id), name: String(name) }));
    return new errors.SeveralOrganizations(sentence, answer, organizations);
  }
  return new (NAME_TAKEN.test(sentence) ? errors.NameTaken : errors.Conflict)(sentence, answer);
}

/** The server's own words, whichever of its bodies they stand in. */
function sentenceOf({ status, body }: Answer): string {
  if (isRecord(body)) {
    if (typeof body.detail === "string") return body.detail;
    if (typeof body.message === "string") return body.message;
    if (typeof body.error === "string") return body.error;
    const first = problemsOf(body)[0];
    if (first) return first.field ? `${first.field}: ${first.message}` : first.message;
  }
  return `HTTP ${status}`;
}

function problemsOf(body: unknown): Problem[] {
  if (!isRecord(body) || !Array.isArray(body.detail)) return [];
  return body.detail.filter(isRecord).map((item) => ({
    field: Array.isArray(item.loc) ? item.loc.slice(1).map(String).join(".") : "",
    message: String(item.msg ?? ""),
  }));
}

function isStatus(value: unknown): value is Status {
  return typeof value === "string" && STATUSES.includes(value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
