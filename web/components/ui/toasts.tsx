"use client";

import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import { common, shell } from "@/text";

import { Icon } from "./icons";
import { dismissToast, toasts, type ToastItem } from "./toast-store";

const NONE: readonly ToastItem[] = [];

/** Once on the page, bottom left of the sheet. The regions are there before their words, or a reader would miss them. */
export function Toasts() {
  const items = useSyncExternalStore(toasts.watch, toasts.all, () => NONE);
  return (
    <section
      aria-label={shell.notifications}
      className="pointer-events-none fixed bottom-[68px] left-2 z-[70] flex w-[min(560px,calc(100vw-16px))] flex-col gap-2 max-md:bottom-[calc(66px+env(safe-area-inset-bottom))] md:left-[76px] lg:left-[280px]"
    >
      <div role="status" className="contents">
        {items
          .filter((item) => item.tone !== "alert")
          .map((item) => (
            <Toast key={item.id} item={item} />
          ))}
      </div>
      <div role="alert" className="contents">
        {items
          .filter((item) => item.tone === "alert")
          .map((item) => (
            <Toast key={item.id} item={item} />
          ))}
      </div>
    </section>
  );
}

function Toast({ item }: { item: ToastItem }) {
  const [isHeld, setHeld] = useState(false);
  const left = useRef(item.lastsMs);
  // The time stops while somebody reads it or has the focus on it.
  useEffect(() => {
    if (isHeld) return;
    const began = performance.now();
    const timer = setTimeout(() => dismissToast(item.id), left.current);
    return () => {
      clearTimeout(timer);
      left.current = Math.max(2_000, left.current - (performance.now() - began));
    };
  }, [isHeld, item.id]);
  return (
    <div
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className="pointer-events-auto flex min-h-11 w-fit max-w-full animate-rise items-center gap-3 rounded-sheet bg-dock pr-2 pl-3.5 text-13 text-on-dock shadow-2"
    >
      {item.icon && <Icon name={item.icon} className="text-on-dock-2" />}
      <span className="flex-1 py-2 [overflow-wrap:anywhere]">{item.text}</span>
      {item.action && (
        <button
          type="button"
          className="min-h-8 rounded-control px-2.5 font-semibold whitespace-nowrap underline underline-offset-[3px] focus-visible:outline-on-dock coarse:min-h-11"
          onClick={() => {
            dismissToast(item.id);
            item.action?.onSelect();
          }}
        >
          {item.action.label}
        </button>
      )}
      <button
        type="button"
        aria-label={common.dismiss}
        className="grid size-7 place-items-center rounded-control text-on-dock-2 hover:text-on-dock focus-visible:outline-on-dock coarse:size-11"
        onClick={() => dismissToast(item.id)}
      >
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}
