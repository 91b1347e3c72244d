/** One file on its way in, from the drop until it can be found. */
import type { DocumentType, Status } from "@/lib/api";

export type UploadState =
  | { kind: "queued" }
  | { kind: "sending"; sent: number; total: number }
  /** The server is away, or asks for patience: it goes on by itself. */
  | { kind: "paused"; why: "away" | "busy" | "queueFull" }
  /** The name is taken: a person decides. */
  | { kind: "asking"; existingId: string; existingStatus: Status }
  /** Stored. From here on the event stream tells. */
  | { kind: "reading" }
  | { kind: "done" }
  | { kind: "failed"; during: "sending"; error: unknown }
  | { kind: "failed"; during: "reading"; reason: string }
  /** It could not be read, and the document has its previous version again. */
  | { kind: "failed"; during: "replacing"; reason: string };

export interface UploadItem {
  readonly id: number;
  readonly kbId: string;
  readonly file: File;
  readonly documentType: DocumentType;
  /** The document whose place it takes, where it is no new one. */
  readonly replaces: string | null;
  /** The document it became. */
  readonly documentId: string | null;
  readonly state: UploadState;
}

export const isFinished = ({ state }: UploadItem): boolean => state.kind === "done" || state.kind === "failed";

/** What would be lost if the page were closed now. */
export const isUnsent = ({ state }: UploadItem): boolean =>
  state.kind === "queued" || state.kind === "sending" || state.kind === "paused" || state.kind === "asking";
