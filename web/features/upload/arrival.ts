/**
 * Whether a file arrived although its answer got lost: it must not come in twice, nor be called a duplicate of itself.
 *
 * That happens without our noticing, too: a browser sends a request again by itself when a connection that it had kept
 * breaks before the answer.
 */
import { isPassing } from "@/lib/api";

import type { Transport } from "./transport";

/** Clocks of two machines differ. Where an attempt broke off, a document may seem older than it by as much. */
const SKEW_MS = 2 * 60_000;

interface Attempt {
  kbId: string;
  file: File;
  replaces: string | null;
  /** When the first attempt began. */
  began: number;
  /** One of them broke off, and nobody knows what became of it. */
  isInDoubt: boolean;
}

export async function hasArrived(transport: Transport, attempt: Attempt, documentId: string): Promise<boolean> {
  const found = await transport.look({ kbId: attempt.kbId, documentId }).catch((error: unknown) => {
    if (isPassing(error)) throw error;
    return null; // gone, or none of ours
  });
  if (!found) return false;
  const came = Date.parse(attempt.replaces ? found.updated_at : found.created_at);
  if (found.file_size !== attempt.file.size || came < attempt.began - (attempt.isInDoubt ? SKEW_MS : 0)) return false;
  if (found.uploaded_by !== (await transport.me())) return false;
  const hash = await transport.digest(attempt.file);
  return hash === null || hash === found.sha256;
}
