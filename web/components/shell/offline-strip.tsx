"use client";

import { useSyncExternalStore } from "react";

import { Icon } from "@/components/ui/icons";
import { shell } from "@/text";

function watch(watcher: () => void): () => void {
  window.addEventListener("online", watcher);
  window.addEventListener("offline", watcher);
  return () => {
    window.removeEventListener("online", watcher);
    window.removeEventListener("offline", watcher);
  };
}

/** Under the head of the sheet while the machine has no network at all. */
export function OfflineStrip() {
  const isOnline = useSyncExternalStore(
    watch,
    () => navigator.onLine,
    () => true,
  );
  return (
    <div role="status">
      {!isOnline && (
        <p className="flex items-center gap-2 border-b border-line bg-st-warn-soft px-4 py-2 text-13 md:px-6">
          <Icon name="offline" className="text-st-warn" />
          {shell.offline}
        </p>
      )}
    </div>
  );
}
