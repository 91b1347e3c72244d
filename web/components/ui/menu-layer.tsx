"use client";

import * as Radix from "@radix-ui/react-menu";
import { useMemo, useRef } from "react";

import type { MenuLayerProps } from "./menu";
import { OpenMenuContext } from "./menu-parts";

/** The open menu itself, hung at its button. Its code comes late; `Menu` is what every page carries. */
export function MenuLayer({ anchor, label, align, side, width, isByKeyboard, onClose, children }: MenuLayerProps) {
  const content = useRef<HTMLDivElement | null>(null);
  const menu = useMemo(() => ({ parts: Radix, goHome: () => anchor.current?.focus() }), [anchor]);
  const close = () => {
    if (content.current?.contains(document.activeElement)) menu.goHome();
    onClose();
  };
  return (
    <Radix.Root open modal={false} onOpenChange={(open) => !open && close()}>
      <Radix.Anchor virtualRef={anchor} />
      <Radix.Portal>
        <Radix.Content
          ref={(node) => {
            if (node && !content.current && isByKeyboard) focusFirst(node);
            content.current = node;
          }}
          aria-label={label}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          loop
          style={{ minWidth: width }}
          onCloseAutoFocus={(event) => event.preventDefault()}
          // A press on its own button closes it by that button's own handler, and must not do so twice.
          onInteractOutside={(event) => {
            if (event.target instanceof Node && anchor.current?.contains(event.target)) event.preventDefault();
          }}
          className="z-[60] max-h-(--radix-popper-available-height) max-w-[min(360px,calc(100vw-16px))] animate-rise overflow-auto rounded-sheet border border-line-2 bg-raised p-[5px] text-ink shadow-2 outline-none"
        >
          <OpenMenuContext value={menu}>{children}</OpenMenuContext>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Whoever opens it by a key stands on its first line; whoever clicks has the pointer there. */
function focusFirst(menu: HTMLElement): void {
  // After Radix has put the focus on the menu as a whole.
  requestAnimationFrame(() => menu.querySelector<HTMLElement>("[role^=menuitem]")?.focus());
}
