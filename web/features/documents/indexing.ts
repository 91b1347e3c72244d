import type { Document } from "@/lib/api";

/** Whether a completed document has passages that search by meaning cannot compare yet. */
export function isWithoutVectors({ status, passages, passages_embedded }: Pick<Document, "status" | "passages" | "passages_embedded">): boolean {
  return status === "completed" && typeof passages === "number" && (passages_embedded ?? passages) < passages;
}
