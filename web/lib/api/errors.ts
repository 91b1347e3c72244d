/**
 * What can go wrong between the page and the server, as types. Components decide by class, never by number.
 *
 *     ApiError
 *     ├── NotSignedIn         401
 *     ├── Refused             400  against a rule of the domain, now
 *     ├── PermissionDenied    403
 *     ├── NotFound            404  not there, or not for this person
 *     ├── Conflict            409
 *     │   ├── DuplicateDocument    the name is taken by a document, which `existingId` and `existingStatus` tell
 *     │   ├── NameTaken            the same on restore, where only the message tells
 *     │   └── SeveralOrganizations the password opens several accounts; `organizations` lists theirs
 *     ├── Invalid             422  `problems` says which field
 *     ├── TooLarge 413, Unsupported 415
 *     ├── StorageFull         507
 *     │   └── QuotaExceeded        the organization's quota of bytes or documents, not the disk
 *     ├── TooManyRequests     429  `retryAfterSeconds`
 *     │   └── QueueFull            too many documents of the organization wait to be processed
 *     ├── Unavailable         503, 408, 502, 504: try again
 *     └── ServerFailed        everything else
 *     Unreachable             no answer came at all; `TimedOut` when we stopped waiting
 */
import type { components } from "./schema";

type Status = components["schemas"]["Status"];
type OrganizationChoice = components["schemas"]["OrganizationChoice"];

export interface Problem {
  field: string;
  message: string;
}

export interface Answer {
  status: number;
  body: unknown;
  requestId: string | null;
  retryAfterSeconds: number | null;
}

export class ApiError extends Error {
  readonly status: number;
  /** The number that the operator finds in the log. */
  readonly requestId: string | null;
  readonly body: unknown;

  constructor(message: string, answer: Answer) {
    super(message);
    this.name = new.target.name;
    this.status = answer.status;
    this.requestId = answer.requestId;
    this.body = answer.body;
  }
}

export class NotSignedIn extends ApiError {}
export class Refused extends ApiError {}
export class PermissionDenied extends ApiError {}
export class NotFound extends ApiError {}
export class Conflict extends ApiError {}
export class NameTaken extends Conflict {}
export class TooLarge extends ApiError {}
export class Unsupported extends ApiError {}
export class StorageFull extends ApiError {}
export class QuotaExceeded extends StorageFull {}
export class ServerFailed extends ApiError {}

export class DuplicateDocument extends Conflict {
  readonly existingId: string;
  readonly existingStatus: Status;

  constructor(message: string, answer: Answer, existing: { id: string; status: Status }) {
    super(message, answer);
    this.existingId = existing.id;
    this.existingStatus = existing.status;
  }
}

export class SeveralOrganizations extends Conflict {
  readonly organizations: readonly OrganizationChoice[];

  constructor(message: string, answer: Answer, organizations: readonly OrganizationChoice[]) {
    super(message, answer);
    this.organizations = organizations;
  }
}

export class Invalid extends ApiError {
  readonly problems: readonly Problem[];

  constructor(message: string, answer: Answer, problems: readonly Problem[]) {
    super(message, answer);
    this.problems = problems;
  }
}

export class TooManyRequests extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(message: string, answer: Answer) {
    super(message, answer);
    this.retryAfterSeconds = answer.retryAfterSeconds ?? 1;
  }
}

export class QueueFull extends TooManyRequests {}

export class Unavailable extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(message: string, answer: Answer) {
    super(message, answer);
    this.retryAfterSeconds = answer.retryAfterSeconds ?? 5;
  }
}

/** No answer: the server is away, or the connection. */
export class Unreachable extends Error {
  override name = "Unreachable";
}

export class TimedOut extends Unreachable {
  override name = "TimedOut";
}

/** Whether the same request may succeed in a moment, without anybody doing anything. */
export function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || error instanceof Unavailable;
}
