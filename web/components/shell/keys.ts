"use client";

/**
 * The keys of the page, registered by whoever is on the screen:
 *
 *     useKeys([{ keys: "u", does: t.upload, run: choose }, { keys: "g a", does: …, run: … }]);
 *
 * One key (`u`, `?`, `Escape`, `ArrowDown`, `Shift+ArrowDown`) or two in a row (`g a`). `Mod` is Ctrl, or Command on a
 * Mac. Of several for the same key the one registered last wins. They count only outside of dialogs and menus, letters only
 * outside of fields, and only while the person has not switched them off.
 */
import { useEffect, useRef } from "react";

import { areKeysOn } from "@/lib/preferences";

export interface KeyBinding {
  keys: string;
  /** For the list of all keys; without it the key is not listed. */
  does?: string;
  run: (event: KeyboardEvent) => void;
  /** Also inside of fields, dialogs and menus: for Esc. */
  inFields?: boolean;
}

const SECOND_WITHIN_MS = 1_200;

type Current = { readonly current: readonly KeyBinding[] };

const registered: Current[] = [];
let first: { key: string; at: number } | null = null;

/** In force while the component is there. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings);
  useEffect(() => {
    latest.current = bindings;
  });
  useEffect(() => {
    registered.push(latest);
    return () => {
      registered.splice(registered.indexOf(latest), 1);
    };
  }, []);
}

/** All that count right now, the nearest first, for the dialog that lists them. */
export const allKeys = (): readonly KeyBinding[] => registered.toReversed().flatMap((bindings) => bindings.current);

export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const pressed = nameOf(event);
  const binding = find(pressed, event);
  if (binding) {
    event.preventDefault();
    binding.run(event);
  }
}

function find(pressed: string, event: KeyboardEvent): KeyBinding | undefined {
  const known = allKeys();
  if (pressed.startsWith("Mod+")) return known.find((binding) => binding.keys === pressed);
  if (isTyping(event.target) || isAbove(event.target)) return known.find((binding) => binding.inFields && binding.keys === pressed);
  const isLetter = pressed.length === 1;
  if (isLetter && !areKeysOn()) return undefined;
  const pair = first && event.timeStamp - first.at < SECOND_WITHIN_MS ? `${first.key} ${pressed}` : null;
  first = { key: pressed, at: event.timeStamp };
  const second = pair ? known.find((binding) => binding.keys === pair) : undefined;
  if (second) first = null;
  return second ?? known.find((binding) => binding.keys === pressed);
}

/** `k`, `?`, `Escape`, `Shift+ArrowDown`, `Mod+k`. Shift counts only where it does not make another letter. */
function nameOf(event: KeyboardEvent): string {
  const key = event.key === " " ? "Space" : event.key;
  if (event.ctrlKey || event.metaKey) return `Mod+${key.toLowerCase()}`;
  if (event.altKey) return `Alt+${key}`;
  if (key.length === 1) return event.shiftKey && key !== key.toLowerCase() ? `Shift+${key.toLowerCase()}` : key;
  return event.shiftKey ? `Shift+${key}` : key;
}

/** In a dialog or a menu, which has keys of its own: the page beneath hears nothing meanwhile. */
function isAbove(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("[role=dialog], [role=menu]") !== null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type);
}
