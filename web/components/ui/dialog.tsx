"use client";

import type { ReactNode, RefObject } from "react";

import { deferred } from "./deferred";

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
export function Dialog(props: DialogProps) {
  return <Frame {...props} />;
}
