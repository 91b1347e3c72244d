"use client";

import { useRef, useState, type ReactNode } from "react";

import { common } from "@/text";

import { Banner } from "./banner";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { sentencesOf } from "./error-sentences";

export interface ConfirmDialogProps {
  isOpen: boolean;
  onClose: () => void;
  question: ReactNode;
  /** The act's own word: `Archive`. */
  action: string;
  /** Closes when it succeeds; a failure stays on the dialog, with the way to try again. */
  onConfirm: () => Promise<unknown>;
  /** What cannot be undone is wax, and the focus starts on Cancel. */
  isDestructive?: boolean;
  /** In place of `Cancel`, where that word would be the act's own. */
  keep?: string;
  /** There is nothing to do: only the way out is left. */
  isImpossible?: boolean;
  children?: ReactNode;
}

export function ConfirmDialog({
  isOpen,
  onClose,
  question,
  action,
  onConfirm,
  isDestructive = false,
  keep = common.cancel,
  isImpossible = false,
  children,
}: ConfirmDialogProps) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const cancel = useRef<HTMLButtonElement>(null);
  const act = useRef<HTMLButtonElement>(null);

  const close = () => {
    setError(null);
    onClose();
  };
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={question}
      focusFirst={isDestructive ? cancel : act}
      foot={
        <>
          <Button ref={cancel} onClick={close}>
            {keep}
          </Button>
          {!isImpossible && (
            <Button ref={act} kind={isDestructive ? "wax" : "primary"} isBusy={isBusy} onClick={() => void confirm()}>
              {action}
            </Button>
          )}
        </>
      }
    >
      {children}
      {error !== null && <Banner tone="failed" className="mt-3" {...sentencesOf(error)} />}
    </Dialog>
  );
}
