/** An error in the server's own words, with the way out as a second line. */
import * as api from "@/lib/api/errors";
import { errors } from "@/text";

export interface Sentences {
  title: string;
  text?: string;
}

export function sentencesOf(error: unknown): Sentences {
  if (error instanceof api.TimedOut) return { title: errors.timedOut };
  if (error instanceof api.Unreachable) return { title: errors.unreachable };
  if (error instanceof api.QueueFull || error instanceof api.QuotaExceeded) return { title: error.message };
  if (error instanceof api.TooManyRequests) return { title: errors.tooMany(error.retryAfterSeconds) };
  if (error instanceof api.StorageFull) return { title: error.message, text: errors.storageFull };
  if (error instanceof api.Unavailable) return { title: error.message, text: errors.unavailable };
  if (error instanceof api.ApiError) return { title: error.message };
  if (isLateCode(error)) return { title: errors.lateCode };
  return { title: errors.failed };
}

/** A part of the page itself that could not be fetched: the server is away, or has been renewed since. */
export const isLateCode = (error: unknown): boolean => error instanceof Error && error.name === "ChunkLoadError";

/** The number under which the operator finds it in the log. */
export function requestIdOf(error: unknown): string | null {
  return error instanceof api.ApiError ? error.requestId : null;
}
