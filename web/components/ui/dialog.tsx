"use client";

import type { ReactNode, RefObject } from "react";

<<<<<<< HEAD
import { common } from "@/text";

import { IconButton } from "./button";
import { classNames } from "./class-names";
import { ToothedEdge } from "./mark";
=======
import { deferred } from "./deferred";
>>>>>>> main

export interface DialogProps {
  isOpen: boolean;
  /** Esc, a click beside it, Cancel, ×. */
  onClose: () => void;
  title: ReactNode;
  /** What a reader hears after the title, where the body does not say it all by itself. */
  description?: ReactNode;
  children?: ReactNode;
  /** The buttons; the act stands last, at the far right. */
  foot?: ReactNode;
  width?: 400 | 520 | 560 | 720;
  /** Above the title: the dashes of a step, for one. */
  above?: ReactNode;
  /** Where the focus starts: the safe button when something is destroyed, the act when it can be undone. */
  focusFirst?: RefObject<HTMLElement | null>;
  hasCloseButton?: boolean;
  /** A receipt: the upper edge is cut, and nothing stands above the body. */
  isPaper?: boolean;
}

const Frame = deferred<DialogProps>(() => import("./dialog-frame").then((module) => module.DialogFrame));

/** A question in the document's voice. A sheet from below on narrow screens. */
<<<<<<< HEAD
export function Dialog({
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
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 grid animate-fade place-items-end overflow-auto bg-shade md:place-items-center md:p-5">
          <Radix.Content
            {...(description ? {} : { "aria-describedby": undefined })}
            onOpenAutoFocus={(event) => {
              if (!focusFirst?.current) return;
              event.preventDefault();
              focusFirst.current.focus();
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
                {hasCloseButton && (
                  <IconButton label={common.close} icon="close" size="small" tooltip={false} onClick={onClose} className="-mt-0.5 -mr-2" />
                )}
              </div>
              {description && <Radix.Description className="mt-2 text-ink-2">{description}</Radix.Description>}
            </div>
            <div className="max-h-[70dvh] overflow-auto px-[18px] pt-3 pb-4 text-ink-2 md:px-6 md:pb-5">{children}</div>
            {foot && <DialogFoot>{foot}</DialogFoot>}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}

function DialogFoot({ children }: { children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-end gap-2 border-t border-line bg-sunk px-[18px] pt-3 pb-[max(18px,env(safe-area-inset-bottom))] max-md:[&>button]:h-11 max-md:[&>button]:flex-auto md:px-6 md:py-3.5 dark:border-line-2">
      {children}
    </div>
  );
=======
export function Dialog(props: DialogProps) {
  return <Frame {...props} />;
>>>>>>> main
}
