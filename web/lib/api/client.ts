/** The one place that calls `fetch`. Paths, queries and bodies are checked against the server's own description. */
import { errorOf } from "./answers";
import { NotFound, TimedOut, Unreachable } from "./errors";
import type { paths } from "./schema";

const TIMEOUT_SECONDS = 30;

export type Method = "get" | "post" | "put" | "patch" | "delete";
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends { responses: unknown } ? P : never;
}[keyof paths];

type Parameters<O> = O extends { parameters: infer Given } ? Given : never;
type PathValues<O> = Parameters<O> extends { path: infer Values } ? { path: Values } : { path?: undefined };
type QueryValues<O> =
  Parameters<O> extends { query: infer Values }
    ? { query: Values }
    : Parameters<O> extends { query?: infer Values }
      ? { query?: Values }
      : { query?: undefined };
type JsonBody<O> = O extends { requestBody: { content: { "application/json": infer Body } } }
  ? { body: Body }
  : O extends { requestBody?: { content: { "application/json": infer Body } } }
    ? { body?: Body }
    : { body?: undefined };
type Successes<O> = O extends { responses: infer Answers }
  ? { [S in keyof Answers]: S extends 200 | 201 | 202 ? Content<Answers[S]> : S extends 204 ? null : never }[keyof Answers]
  : never;
type Content<A> = A extends { content: { "application/json": infer Body } } ? Body : unknown;

/** Everything after `?` of this request. */
export type Query<P extends PathOf<M>, M extends Method = "get"> = NonNullable<QueryValues<Operation<P, M>>["query"]>;
/** What a success answers with. */
export type Answered<P extends PathOf<M>, M extends Method> = Successes<Operation<P, M>>;

export interface Manners {
  signal?: AbortSignal | undefined;
  /** Seconds without an answer until `TimedOut`. */
  timeout?: number;
}
export type Request<P extends PathOf<M>, M extends Method> = PathValues<Operation<P, M>> & QueryValues<Operation<P, M>> & JsonBody<Operation<P, M>> & Manners;

export async function call<M extends Method, P extends PathOf<M>>(method: M, path: P, request: Request<P, M>): Promise<Answered<P, M>> {
  const answer = await send(method, urlOf(path, request), request);
  const body: unknown = await bodyOf(answer);
  if (answer.ok) return body as Answered<P, M>;
  throw errorOf({
    status: answer.status,
    body,
    requestId: answer.headers.get("X-Request-ID"),
    retryAfterSeconds: secondsOf(answer.headers.get("Retry-After")),
  });
}

async function send(method: Method, url: string, request: Manners & { body?: unknown }): Promise<Response> {
  const timer = AbortSignal.timeout((request.timeout ?? TIMEOUT_SECONDS) * 1000);
  const signal = request.signal ? AbortSignal.any([request.signal, timer]) : timer;
  const hasBody = request.body !== undefined && request.body !== null;
  try {
    return await fetch(url, {
      method: method.toUpperCase(),
      credentials: "same-origin",
      headers: hasBody ? { Accept: "application/json", "Content-Type": "application/json" } : { Accept: "application/json" },
      ...(hasBody ? { body: JSON.stringify(request.body) } : {}),
      signal,
    });
  } catch (error) {
    if (request.signal?.aborted) throw error; // nobody waits for it any more
    if (timer.aborted) throw new TimedOut("The server did not respond");
    throw new Unreachable("Cannot reach the server");
  }
}

/** JSON where there is any; a proxy in between may answer with a page. */
async function bodyOf(answer: Response): Promise<unknown> {
  if (answer.status === 204) return null;
  try {
    return await answer.json();
  } catch (error) {
    if (answer.ok && !(error instanceof SyntaxError)) throw new Unreachable("The response was interrupted");
    return null;
  }
}

/**
 * The address of a request: `{name}` in the path is filled and escaped, lists in the query are repeated.
 *
 * Ids come from the page's own address, which anybody can write into a link. One that would lead to another path of the
 * API names nothing, and nobody is asked: `NotFound`.
 */
export function urlOf(path: string, request: { path?: unknown; query?: unknown }): string {
  const values = (request.path ?? {}) as Record<string, string | number>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    // A key of the archive queue has slashes of its own, which stay: the route takes the rest of the path.
    const parts = name === "key" ? String(values[name]).split("/") : [String(values[name])];
    if (parts.some((part) => part === "" || part === "." || part === "..")) throw notThere();
    return parts.map(encodeURIComponent).join("/");
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((request.query ?? {}) as Record<string, unknown>)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return text ? `${filled}?${text}` : filled;
}

const notThere = () => new NotFound("Not found", { status: 404, body: null, requestId: null, retryAfterSeconds: null });

/** `Retry-After` in seconds; as a date it is of no use to a countdown and left out. */
export function secondsOf(header: string | null): number | null {
  const seconds = Number(header);
  return header !== null && Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
