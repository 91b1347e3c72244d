"use client";

import { cloneElement, useEffect, useRef, useState, type ReactElement } from "react";

const WAIT_MS = 500;
const GAP = 6;

type Side = "top" | "right";

/** Shows `label` on hover and focus. The child carries its own accessible name; this is for eyes only. */
export function Tooltip({ label, side = "top", children }: { label: string; side?: Side; children: ReactElement<Record<string, unknown>> }) {
  return cloneElement(children, { "data-tooltip": label, "data-tooltip-side": side });
}

interface Shown {
  label: string;
  side: Side;
  box: DOMRect;
}

/** Once on the page: one layer for all that have a tooltip, however many they are. */
export function TooltipLayer() {
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = () => {
      clearTimeout(timer);
      setShown(null);
    };
    const show = (target: EventTarget | null, wait: number) => {
      const owner = target instanceof Element ? target.closest<HTMLElement>("[data-tooltip]") : null;
      hide();
      if (owner) timer = setTimeout(() => setShown(shownOf(owner)), wait);
    };
    const hover = (event: PointerEvent) => event.pointerType === "mouse" && show(event.target, WAIT_MS);
    const focus = (event: FocusEvent) => event.target instanceof Element && event.target.matches(":focus-visible") && show(event.target, 0);
    const listening: [string, (event: never) => unknown][] = [
      ["pointerover", hover],
      ["focusin", focus],
      ["focusout", hide],
      ["pointerdown", hide],
      ["keydown", hide],
      ["scroll", hide],
    ];
    for (const [name, listener] of listening) document.addEventListener(name, listener as EventListener, true);
    return () => {
      clearTimeout(timer);
      for (const [name, listener] of listening) document.removeEventListener(name, listener as EventListener, true);
    };
  }, []);
  return shown && <Bubble key={shown.label} {...shown} />;
}

function shownOf(owner: HTMLElement): Shown | null {
  const { tooltip, tooltipSide } = owner.dataset;
  // An open menu speaks for itself.
  if (!tooltip || !owner.isConnected || owner.dataset.state === "open") return null;
  return { label: tooltip, side: tooltipSide === "right" ? "right" : "top", box: owner.getBoundingClientRect() };
}

function Bubble({ label, side, box }: Shown) {
  const bubble = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const own = bubble.current;
    if (!own) return;
    const { width, height } = own.getBoundingClientRect();
    const left = side === "right" ? box.right + GAP : box.left + (box.width - width) / 2;
    const above = box.top - height - GAP;
    const top = side === "right" ? box.top + (box.height - height) / 2 : above >= 4 ? above : box.bottom + GAP;
    own.style.left = `${Math.max(4, Math.min(left, window.innerWidth - width - 4))}px`;
    own.style.top = `${top}px`;
    own.style.visibility = "visible";
  }, [side, box]);
  return (
    <div
      ref={bubble}
      aria-hidden="true"
      className="pointer-events-none invisible fixed z-[80] max-w-[320px] rounded-control bg-dock px-2.5 py-1.5 text-12 text-on-dock shadow-2 [overflow-wrap:anywhere]"
    >
      <bdi>{label}</bdi>
    </div>
  );
}
