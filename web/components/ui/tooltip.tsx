"use client";

import * as Radix from "@radix-ui/react-tooltip";
import type { ReactElement, ReactNode } from "react";

/** Once, around the page: the second tooltip in a row comes at once. */
export function TooltipProvider({ children }: { children: ReactNode }) {
  return <Radix.Provider delayDuration={500}>{children}</Radix.Provider>;
}

/** Words for what has none to see. The child carries its own accessible name; this only shows it. */
export function Tooltip({ label, children, side = "top" }: { label: ReactNode; children: ReactElement; side?: Radix.TooltipContentProps["side"] }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-[80] max-w-[320px] animate-rise rounded-control bg-dock px-2.5 py-1.5 text-12 text-on-dock shadow-2"
        >
          {label}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
