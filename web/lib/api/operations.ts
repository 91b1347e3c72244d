/** What operators see of the installation: queues, dead letters, health, drift, savings. Ids only, never names. */
import { call, type Answered, type Query } from "./client";
import { Unavailable } from "./errors";

export const getProcessingQueue = (signal?: AbortSignal) => call("get", "/api/v1/processing/queue", { signal });

export const getSavings = (signal?: AbortSignal) => call("get", "/api/v1/artifacts/savings", { signal });

/** `NotFound` before the first comparison. */
export const getReconciliation = (signal?: AbortSignal) => call("get", "/api/v1/reconcile/latest", { signal });

export const listArchiveQueue = (query: Query<"/api/v1/archive/queue">, signal?: AbortSignal) => call("get", "/api/v1/archive/queue", { query, signal });

export const listDeadLetters = (query: Query<"/api/v1/archive/dead-letters">, signal?: AbortSignal) =>
  call("get", "/api/v1/archive/dead-letters", { query, signal });

export const requeueDeadLetter = (key: string) => call("post", "/api/v1/archive/dead-letters/{key}/requeue", { path: { key } });

export const discardDeadLetter = (key: string) => call("delete", "/api/v1/archive/dead-letters/{key}", { path: { key } });

type Readiness = Answered<"/health/ready", "get">;

/** Every part with its state. That one of them is unwell is an answer here, and no failure. */
export async function getReadiness(signal?: AbortSignal): Promise<Readiness> {
  try {
    return await call("get", "/health/ready", { signal });
  } catch (error) {
    if (error instanceof Unavailable && isReadiness(error.body)) return error.body;
    throw error;
  }
}

function isReadiness(body: unknown): body is Readiness {
  return typeof body === "object" && body !== null && "checks" in body;
}
