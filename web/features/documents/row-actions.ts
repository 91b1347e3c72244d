"use client";

import { useEffect, useRef, useState } from "react";

import type { Document } from "@/lib/api";

import type { RowAct } from "./menu-plan";

/** What a row can ask of its page. */
export interface RowActions {
  run: (act: RowAct, document: Document) => void;
  toggle: (id: string, isRange: boolean) => void;
  undo: (document: Document) => void;
  setMenu: (id: string | null) => void;
  /** Its row is gone, and with it the menu that was open. */
  closeMenu: (id: string) => void;
}

/** The same object for ever, which calls the newest functions: a hundred rows stay as they are when the page renders. */
export function useStableActions(actions: RowActions): RowActions {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  const [stable] = useState<RowActions>(() => ({
    run: (...given) => latest.current.run(...given),
    toggle: (...given) => latest.current.toggle(...given),
    undo: (...given) => latest.current.undo(...given),
    setMenu: (...given) => latest.current.setMenu(...given),
    closeMenu: (...given) => latest.current.closeMenu(...given),
  }));
  return stable;
}
