"use client";

import dynamic from "next/dynamic";
import { useSyncExternalStore } from "react";

import { paletteState } from "./palette-state";

const Palette = dynamic(() => import("./palette").then((module) => module.Palette), { ssr: false });

/** Loads the palette the first time somebody asks for it. */
export function PaletteSlot() {
  const isOpen = useSyncExternalStore(paletteState.watch, paletteState.isOpen, () => false);
  return isOpen ? <Palette /> : null;
}
