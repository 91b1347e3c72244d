"use client";

/** The uploads of this tab: one queue, whichever page is shown. */
import { sentencesOf } from "@/components/ui/error-sentences";
import { showToast } from "@/components/ui/toast-store";
import { withName } from "@/components/ui/with-name";
import { getDocument, retryDocument, retryReplacement, revertDocument, type DocumentType } from "@/lib/api";
import { live } from "@/lib/live";
import { common, upload as t } from "@/text";

import { Following } from "./following";
import type { UploadItem } from "./item";
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

/** Have a stored file that could not be read read once more. */
export async function readAgain({ id, kbId, documentId }: UploadItem): Promise<void> {
  if (documentId === null) return;
  await telling(async () => {
    await retryDocument({ kbId, documentId });
    uploads.reread(id);
  });
}

/** Have a new file that could not be read, and was taken back, read once more. */
export async function replaceAgain({ id, kbId, documentId }: UploadItem): Promise<void> {
  if (documentId === null) return;
  await telling(async () => {
    following.forget(documentId);
    await retryReplacement({ kbId, documentId });
    uploads.reread(id);
  });
}

/** Have the document as it was before a new file that could not be read. */
export async function bringOldBack({ id, kbId, documentId }: UploadItem): Promise<void> {
  if (documentId === null) return;
  await telling(async () => {
    const { name } = await revertDocument({ kbId, documentId });
    uploads.drop(id);
    showToast({ text: withName(t.isBack, name), icon: "undo" });
  });
}

async function telling(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    showToast({ text: sentencesOf(error).title, icon: "alert", tone: "alert" });
  }
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
