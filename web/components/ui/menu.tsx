"use client";

import { cloneElement, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactElement, type ReactNode, type Ref, type RefObject } from "react";

import { deferred } from "./deferred";

export * from "./menu-items";

export interface MenuProps {
  /** A button. It gets what opens the menu, and keeps its own label. */
  trigger: ReactElement<TriggerProps>;
  children: ReactNode;
  align?: "start" | "center" | "end";
  side?: "top" | "right" | "bottom" | "left";
  isOpen?: boolean;
  onOpenChange?: (open: boolean) => void;
  width?: number;
}

interface TriggerProps {
  ref?: Ref<HTMLButtonElement>;
  onClick?: (event: MouseEvent<HTMLButtonElement>) => void;
  [name: string]: unknown;
}

export interface MenuLayerProps {
  anchor: RefObject<HTMLButtonElement | null>;
  label: string | undefined;
  align: NonNullable<MenuProps["align"]>;
  side: NonNullable<MenuProps["side"]>;
  width: number;
  isByKeyboard: boolean;
  onClose: () => void;
  children: ReactNode;
}

const Layer = deferred<MenuLayerProps>(() => import("./menu-layer").then((module) => module.MenuLayer));

/** A button with a menu. While it is closed it costs a button: a table may have a hundred of them. */
export function Menu({ trigger, children, align = "end", side = "bottom", isOpen, onOpenChange, width = 236 }: MenuProps) {
  const [own, setOwn] = useState(false);
  const [isByKeyboard, setByKeyboard] = useState(true);
  const anchor = useRef<HTMLButtonElement>(null);
  const open = isOpen ?? own;
  const become = (next: boolean, byKeyboard = true) => {
    setByKeyboard(byKeyboard);
    setOwn(next);
    onOpenChange?.(next);
  };
  return (
    <>
      {cloneElement(trigger, {
        ref: joined(anchor, trigger.props.ref),
        "aria-haspopup": "menu",
        "aria-expanded": open,
        "data-state": open ? "open" : "closed",
        onPointerEnter: () => void Layer.preload(),
        onFocus: () => void Layer.preload(),
        onClick: (event: MouseEvent<HTMLButtonElement>) => {
          trigger.props.onClick?.(event);
          // A press of Enter or Space is a click without a place.
          if (event.defaultPrevented) return;
          if (open) event.currentTarget.focus();
          become(!open, event.detail === 0);
        },
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== "ArrowDown" || open) return;
          event.preventDefault();
          become(true);
        },
      })}
      {open && (
        <Layer
          anchor={anchor}
          label={labelOf(anchor.current)}
          align={align}
          side={side}
          width={width}
          isByKeyboard={isByKeyboard}
          onClose={() => become(false)}
        >
          {children}
        </Layer>
      )}
    </>
  );
}

/** A menu is called like its button. */
const labelOf = (button: HTMLButtonElement | null): string | undefined => button?.getAttribute("aria-label") ?? button?.textContent ?? undefined;

function joined(own: RefObject<HTMLButtonElement | null>, other: Ref<HTMLButtonElement> | undefined): (button: HTMLButtonElement | null) => void {
  return (button) => {
    own.current = button;
    if (typeof other === "function") other(button);
    else if (other) other.current = button;
  };
}
