/** The second line of a refusal: what somebody can do about it now. The first one is the server's own. */
import { sentencesOf, type Sentences } from "@/components/ui/error-sentences";
import { Conflict, NameTaken, NotFound, Refused } from "@/lib/api";
import { archive as t } from "@/text";

export function whyNotRestored(error: unknown): Sentences {
  const said = sentencesOf(error);
  if (error instanceof NameTaken) return { ...said, text: t.restore.taken };
  if (error instanceof NotFound) return { ...said, text: t.restore.gone };
  if (error instanceof Refused) return { ...said, text: t.restore.notArchived };
  return said;
}

/** `isCancelled`: the person has already asked to cancel the hand-over. */
export function whyNotPurged(error: unknown, isCancelled = false): Sentences {
  const said = sentencesOf(error);
  if (error instanceof Conflict) return { ...said, text: isCancelled ? t.purge.archiverHasBegun : t.purge.handOver };
  if (error instanceof NotFound) return { ...said, text: t.purge.gone };
  if (error instanceof Refused) return { ...said, text: t.purge.notArchived };
  return said;
}
