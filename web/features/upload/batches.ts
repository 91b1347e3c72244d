/**
 * Chooses which waiting files are sent in one request. With many small files most of the time goes into requests, so
 * they share one. A large file, or one of a few, is sent alone, so that its progress can be shown.
 */
import type { UploadItem } from "./item";

/** The server's own limits are higher. */
export const MOST_FILES = 20;
const MOST_BYTES = 8 * 1024 * 1024;
const SMALL_BYTES = 1024 * 1024;
/** So many for each request in parallel, and they are many. */
const MANY = 4;

export interface BatchLimits {
  /** How many requests there are in parallel: each of them gets its share. */
  requests: number;
  mostFiles: number;
  /** A file that has to be sent alone, because a request with it failed. */
  isAlone: (item: UploadItem) => boolean;
}

/** The first of the waiting files, and those that go with it, in their order. */
export function nextBatch(waiting: readonly UploadItem[], { requests, mostFiles, isAlone }: BatchLimits): readonly UploadItem[] {
  const [first] = waiting;
  if (!first) return [];
  const isMate = (item: UploadItem) =>
    item.kbId === first.kbId && item.documentType === first.documentType && item.replaces === null && item.file.size <= SMALL_BYTES && !isAlone(item);
  const mates = isMate(first) ? waiting.filter(isMate) : [];
  if (mates.length <= requests * MANY) return [first];
  const batch: UploadItem[] = [];
  let bytes = 0;
  for (const mate of mates.slice(0, Math.min(mostFiles, Math.ceil(mates.length / requests)))) {
    bytes += mate.file.size;
    if (bytes > MOST_BYTES) break;
    batch.push(mate);
  }
  return batch;
}

/** How much of each file has left the machine, when so much of all of them has. Null for one that has not begun. */
export function shareOf(files: readonly Pick<File, "size">[], fraction: number): readonly (number | null)[] {
  let left = fraction * files.reduce((sum, { size }) => sum + size, 0);
  return files.map(({ size }, index) => {
    const sent = index === 0 || left > 0 ? Math.min(size, Math.max(0, Math.round(left))) : null;
    left -= size;
    return sent;
  });
}
