"use client";

import { useId, type ReactNode } from "react";

import { Banner } from "./banner";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { sentencesOf } from "./error-sentences";
import { common } from "@/text";

/** A dialog that is a form: Enter sends it, a refusal stays on it. */
export function FormDialog({
  title,
  action,
  isBusy,
  error,
  onSubmit,
  onClose,
  children,
}: {
  title: ReactNode;
  action: string;
  isBusy: boolean;
  error: unknown;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" form={id} kind="primary" isBusy={isBusy}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={id}
        noValidate
        className="grid gap-4 text-ink"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) onSubmit();
        }}
      >
        {error != null && <Banner tone="failed" {...sentencesOf(error)} />}
        {children}
      </form>
    </Dialog>
  );
}
