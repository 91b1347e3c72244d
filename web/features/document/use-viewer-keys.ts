"use client";

import { useKeys } from "@/components/shell/keys";
import { document as text } from "@/text";

import type { Viewer } from "./use-viewer";
import type { Zoom } from "./use-zoom";

interface Others {
  focusFind: () => void;
  toggleText: () => void;
  showHistory: () => void;
}

export function useViewerKeys(viewer: Viewer, zoom: Zoom, { focusFind, toggleText, showHistory }: Others): void {
  const t = text.keys;
  useKeys([
    { keys: "ArrowLeft", does: t.previousPage, run: () => viewer.page > 1 && viewer.goTo(viewer.page - 1) },
    { keys: "ArrowRight", does: t.nextPage, run: () => viewer.page < viewer.pages && viewer.goTo(viewer.page + 1) },
    { keys: "+", does: t.larger, run: zoom.larger },
    { keys: "=", run: zoom.larger },
    { keys: "-", does: t.smaller, run: zoom.smaller },
    { keys: "0", does: t.fit, run: zoom.fit },
    { keys: "t", does: t.text, run: toggleText },
    { keys: "h", does: t.history, run: showHistory },
    { keys: "n", does: t.nextMatch, run: () => viewer.step(1) },
    { keys: "Shift+n", does: t.previousMatch, run: () => viewer.step(-1) },
    { keys: "/", does: t.find, run: focusFind },
  ]);
}
