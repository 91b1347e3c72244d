/** What the queue needs of the server. A test brings its own. */
import { getDocument, getMe, isPassing, replaceDocument, uploadDocument, type Document, type DocumentType } from "@/lib/api";

import { digest } from "./digest";

export interface Sent {
  documentId: string;
  /** A failed upload of the same name made way. */
  hasCleared: boolean;
}

interface Sending {
  onProgress: (sent: number, total: number) => void;
  signal: AbortSignal;
}

export interface Transport {
  upload(kbId: string, file: File, options: Sending & { documentType: DocumentType }): Promise<Sent>;
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
  upload: async (kbId, file, options) => {
    const created = await uploadDocument(kbId, file, options);
    return { documentId: created.id, hasCleared: "auto_cleared_document_id" in created };
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
