"use client";

import { useEffect, useSyncExternalStore } from "react";

import type { DocumentType } from "@/lib/api";

import { isUnsent, type UploadItem } from "./item";
import { uploads, uploadType } from "./uploads";

const NONE: readonly UploadItem[] = [];

export function useUploads(): readonly UploadItem[] {
  return useSyncExternalStore(uploads.watch, uploads.items, () => NONE);
}

export function useUploadType(): [DocumentType, (documentType: DocumentType) => void] {
  return [useSyncExternalStore(uploadType.watch, uploadType.get, () => "other"), uploadType.set];
}

/** Goes on when the machine has a network again, and asks before the page is closed over what was not sent. */
export function useUploadManners(items: readonly UploadItem[]): void {
  useEffect(() => {
    const wake = () => uploads.wake();
    window.addEventListener("online", wake);
    return () => window.removeEventListener("online", wake);
  }, []);
  const wouldLose = items.some(isUnsent);
  useEffect(() => {
    if (!wouldLose) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [wouldLose]);
}
