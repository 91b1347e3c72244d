/** What the queue needs of the server. A test brings its own. */
import {
  getDocument,
  getMe,
  isPassing,
  replaceDocument,
  uploadDocument,
  uploadDocuments,
  type Document,
  type DocumentCreated,
  type DocumentType,
} from "@/lib/api";

import { digest } from "./digest";

export interface Sent {
  documentId: string;
  /** A failed upload of the same name made way. */
  hasCleared: boolean;
}

/** Of one of several. */
export type Outcome = Sent | { error: unknown };

interface Sending {
  onProgress: (sent: number, total: number) => void;
  signal: AbortSignal;
}

export interface Transport {
  upload(kbId: string, file: File, options: Sending & { documentType: DocumentType }): Promise<Sent>;
  /** Outcomes in the order of the files. The last of fewer says why the request ended early. */
  uploadSeveral(kbId: string, files: readonly File[], options: Sending & { documentType: DocumentType }): Promise<readonly Outcome[]>;
  replace(place: { kbId: string; documentId: string }, file: File, options: Sending): Promise<Sent>;
  look(place: { kbId: string; documentId: string }): Promise<Pick<Document, "sha256" | "file_size" | "uploaded_by" | "created_at" | "updated_at">>;
  /** Null where the browser cannot tell. */
  digest(file: File): Promise<string | null>;
  /** Who sends. */
  me(): Promise<string | null>;
  /** Whether the server answers at all. */
  isThere(): Promise<boolean>;
}

export const transport: Transport = {
  upload: async (kbId, file, options) => sentOf(await uploadDocument(kbId, file, options)),
  uploadSeveral: async (kbId, files, options) => {
    const outcomes = await uploadDocuments(kbId, files, options);
    return outcomes.map((outcome) => ("document" in outcome ? sentOf(outcome.document) : outcome));
  },
  replace: async (place, file, options) => {
    const replaced = await replaceDocument(place, file, options);
    return { documentId: replaced.id, hasCleared: false };
  },
  look: (place) => getDocument(place),
  digest,
  me: async () => (await getMe()).id,
  isThere: async () => {
    try {
      await getMe();
      return true;
    } catch (error) {
      return !isPassing(error); // whatever it answers, it answers
    }
  },
};

const sentOf = (created: DocumentCreated): Sent => ({ documentId: created.id, hasCleared: "auto_cleared_document_id" in created });
