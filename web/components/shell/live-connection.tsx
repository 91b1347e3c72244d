"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { keys } from "@/lib/api";
import { live, type LiveEvent } from "@/lib/live";
import { useLiveEvents } from "@/lib/use-live";

const HIDDEN_MS = 60_000;
const CALM_MS = 1_000;
/** While more events than these come in that time, lists are asked anew less often: rows hear of their steps by the stream. */
const MANY_EVENTS = 20;
const BUSY_MS = 4_000;

/** Opens the tab's one stream, and keeps the answers that documents appear in true by it. */
export function LiveConnection() {
  useOpenStream();
  const refresh = useRefresh();
  useLiveEvents((event: LiveEvent) => {
    if (event.type === "document") refresh(event.document.document_id);
    else if (event.type === "gone") refresh(event.documentId);
    else refresh(null);
  });
  return null;
}

/** A tab that nobody sees gives its connection back, and catches up by the snapshot when it is seen again. */
function useOpenStream(): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") live.start();
      else timer = setTimeout(() => live.stop(), HIDDEN_MS);
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", follow);
      live.stop();
    };
  }, []);
}

/** Lists are asked anew once a second at most, and less often while very many documents move at the same time. */
function useRefresh(): (documentId: string | null) => void {
  const client = useQueryClient();
  useEffect(() => () => clearTimeout(pending), []);
  return (documentId) => {
    if (documentId) void client.invalidateQueries({ queryKey: keys.document(documentId) });
    events += 1;
    if (pending !== undefined) return;
    pending = setTimeout(
      () => {
        pending = undefined;
        busyUntil = events > MANY_EVENTS ? Date.now() + BUSY_MS : 0;
        events = 0;
        for (const key of [keys.documents(), keys.knowledgeBases(), ["knowledge-base"], keys.archived()]) {
          void client.invalidateQueries({ queryKey: key });
        }
      },
      Date.now() < busyUntil ? BUSY_MS : CALM_MS,
    );
  };
}

let pending: ReturnType<typeof setTimeout> | undefined;
let events = 0;
let busyUntil = 0;
