"use client";

/** The uploads of this tab: one queue, whichever page is shown. */
import { showToast } from "@/components/ui/toast-store";
import { withName } from "@/components/ui/with-name";
import { getDocument, type DocumentType } from "@/lib/api";
import { live } from "@/lib/live";
import { common, upload as t } from "@/text";

import { Following } from "./following";
import { UploadQueue } from "./queue";
import { transport } from "./transport";

export const uploads: UploadQueue = new UploadQueue(transport, {
  onStored: (item, sent) => {
    if (sent.hasCleared) showToast({ text: withName(t.autoCleared, item.file.name), icon: "check" });
    following.begin(item);
  },
});

const following = new Following(uploads, live, getDocument, { gone: t.gone, failed: common.status.failed });

/** The stream is there again: so is the server. */
live.watch(() => {
  if (live.state === "live") uploads.wake();
});

/** The new file is read under the id of the old one, whose end must not be taken for its own. */
export function replaceDocumentBy(kbId: string, documentId: string, file: File): void {
  following.forget(documentId);
  uploads.replace(kbId, documentId, file);
}

export function replaceInstead(uploadId: number, documentId: string): void {
  following.forget(documentId);
  uploads.again(uploadId, { replaces: documentId });
}

/** What the next files are, as chosen beside the upload button; until the page is loaded anew. */
let chosenType: DocumentType = "other";
const watchers = new Set<() => void>();

export const uploadType = {
  get: (): DocumentType => chosenType,
  set: (documentType: DocumentType): void => {
    chosenType = documentType;
    for (const watcher of [...watchers]) watcher();
  },
  watch: (watcher: () => void): (() => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  },
};
