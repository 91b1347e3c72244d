/** Whether a file arrived although its answer got lost: it must not come in twice, nor be called a duplicate of itself. */
import type { Transport } from "./transport";

/** Clocks of two machines differ; a document that is older than the attempt by more than this is another one. */
const SKEW_MS = 2 * 60_000;

interface Attempt {
  kbId: string;
  file: File;
  replaces: string | null;
  /** When the first attempt began whose outcome nobody knows. */
  since: number;
}

export async function hasArrived(transport: Transport, attempt: Attempt, documentId: string): Promise<boolean> {
  const found = await transport.look({ kbId: attempt.kbId, documentId });
  const came = Date.parse(attempt.replaces ? found.updated_at : found.created_at);
  if (found.file_size !== attempt.file.size || came < attempt.since - SKEW_MS) return false;
  if (found.uploaded_by !== (await transport.me())) return false;
  const hash = await transport.digest(attempt.file);
  return hash === null || hash === found.sha256;
}
