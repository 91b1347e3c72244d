"use client";

import { IconButton } from "@/components/ui/button";
import { useTheme } from "@/lib/preferences";
import { shell } from "@/text";
import { useSyncExternalStore } from "react";

/** One press to the other theme. Back to the system's own: in Account. */
export function ThemeSwitch() {
  const [, setTheme] = useTheme();
  const isDark = useIsDark();
  return (
    <IconButton
      label={isDark ? shell.toLight : shell.toDark}
      icon={isDark ? "sun" : "moon"}
      onClick={() => setTheme(isDark ? "light" : "dark")}
      className="hover:bg-desk-2"
    />
  );
}

function watch(watcher: () => void): () => void {
  const observer = new MutationObserver(watcher);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

/** What the page looks like now, whoever decided it. */
export function useIsDark(): boolean {
  return useSyncExternalStore(
    watch,
    () => document.documentElement.dataset.theme === "dark",
    () => false,
  );
}
