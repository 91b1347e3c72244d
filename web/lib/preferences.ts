"use client";

/** What a person has chosen for this browser: the theme, whether letters are keys, rows per page. */
import { useSyncExternalStore } from "react";

import { THEME } from "./theme-script";

export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const KEYS = "muniment.keys";

const watchers = new Set<() => void>();

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  window.addEventListener("storage", watcher); // another tab
  return () => {
    watchers.delete(watcher);
    window.removeEventListener("storage", watcher);
  };
}

/** A browser may forbid its storage; then nothing is remembered, and everything works. */
function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // not remembered
  }
  for (const watcher of [...watchers]) watcher();
}

const storedTheme = (): Theme => THEMES.find((theme) => theme === read(THEME)) ?? "system";

export function useTheme(): [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(watch, storedTheme, () => "system"), setTheme];
}

function setTheme(theme: Theme): void {
  write(THEME, theme);
  showTheme();
}

/** Puts the chosen theme on the page; called again when the system changes its own. */
export function showTheme(): void {
  const chosen = storedTheme();
  const system = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = chosen === "system" ? system : chosen;
}

/** Whether single letters do something. Ctrl-K and Esc always do. */
export const areKeysOn = (): boolean => read(KEYS) !== "off";

export function useKeysOn(): [boolean, (on: boolean) => void] {
  return [useSyncExternalStore(watch, areKeysOn, () => true), (on) => write(KEYS, on ? "on" : "off")];
}
