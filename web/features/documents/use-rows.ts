"use client";

import { useState } from "react";

import type { Document, Page } from "@/lib/api";

import { accept, arrange, noRows, type Rows } from "./rows";
import { scrollToTop, useAtTop } from "./use-at-top";

interface Given {
  answer: Page<Document> | undefined;
  isPlaceholder: boolean;
  /** Of the view that is shown. */
  viewKey: string;
  ghosts: ReadonlyMap<string, Document>;
  /** Somebody has something in hand: a selection, an open menu. */
  isInHand: boolean;
}

export interface SettledRows {
  rows: readonly Document[];
  waiting: number;
  showWaiting: () => void;
}

export function useRows({ answer, isPlaceholder, viewKey, ghosts, isInHand }: Given): SettledRows {
  const isAtTop = useAtTop();
  const [shown, setShown] = useState<Rows<Document>>(noRows);
  let now = shown;
  if (answer && !isPlaceholder) {
    now = arrange(shown, { key: viewKey, fresh: answer.items, limit: answer.limit, ghosts, isHeld: !isAtTop || isInHand });
    if (now !== shown) setShown(now);
  }
  const showWaiting = () => {
    setShown(accept(now));
    scrollToTop();
  };
  return { rows: now.rows, waiting: now.waiting, showWaiting };
}
