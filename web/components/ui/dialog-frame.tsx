"use client";

import * as Radix from "@radix-ui/react-dialog";
import { useRef, type ReactNode } from "react";

import { common } from "@/text";

import { IconButton } from "./button";
import { classNames } from "./class-names";
import { ToothedEdge } from "./mark";
import type { DialogProps } from "./dialog";

const WIDTHS = { 400: "md:max-w-[400px]", 520: "md:max-w-[520px]", 560: "md:max-w-[560px]", 720: "md:max-w-[720px]" };

/** What `Dialog` shows, with Radix behind it. */
export function DialogFrame({
  isOpen,
  onClose,
  title,
  description,
  children,
  foot,
  width = 520,
  above,
  focusFirst,
  hasCloseButton = false,
  isPaper = false,
}: DialogProps) {
  const opener = useRef<Element | null>(null);
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 grid animate-fade place-items-end overflow-auto bg-shade md:place-items-center md:p-5">
          <Radix.Content
            {...(description ? {} : { "aria-describedby": undefined })}
            onOpenAutoFocus={(event) => {
              opener.current = document.activeElement;
              if (!focusFirst?.current) return;
              event.preventDefault();
              focusFirst.current.focus();
            }}
            onCloseAutoFocus={(event) => {
              event.preventDefault();
              goBackTo(opener.current);
            }}
            className={classNames(
              "relative flex w-full animate-sheet flex-col border border-line-2 bg-raised shadow-3 outline-none",
              isPaper ? "border-t-0 md:rounded-b-dialog" : "overflow-hidden rounded-t-[16px] md:rounded-dialog dark:border-0",
              WIDTHS[width],
            )}
          >
            {isPaper && <ToothedEdge className="absolute inset-x-[-1px] top-[-9px] h-2.5 w-[calc(100%+2px)]" />}
            <div className={isPaper ? "sr-only" : "px-[18px] pt-[18px] md:px-6 md:pt-5"}>
              {above}
              <div className="flex items-start gap-3">
                <Radix.Title className="min-w-0 flex-1 font-doc text-18 font-semibold tracking-[-0.005em] text-pretty [overflow-wrap:anywhere]">
                  {title}
                </Radix.Title>
                {hasCloseButton && <IconButton label={common.close} icon="close" size="small" tooltip={false} onClick={onClose} className="-mt-0.5 -mr-2" />}
              </div>
              {description && <Radix.Description className="mt-2 text-ink-2">{description}</Radix.Description>}
            </div>
            <div className="max-h-[70dvh] overflow-auto px-[18px] pt-3 pb-4 text-ink-2 md:px-6 md:pb-5">{children}</div>
            {foot && <Foot>{foot}</Foot>}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** The focus goes back to where it came from; if that is gone with what the dialog did, to the page. */
function goBackTo(opener: Element | null): void {
  const home = opener instanceof HTMLElement && opener.isConnected && opener !== document.body ? opener : document.getElementById("main");
  home?.focus();
}

function Foot({ children }: { children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-end gap-2 border-t border-line bg-sunk px-[18px] pt-3 pb-[max(18px,env(safe-area-inset-bottom))] max-md:[&>button]:h-11 max-md:[&>button]:flex-auto md:px-6 md:py-3.5 dark:border-line-2">
      {children}
    </div>
  );
}
