"use client";

import { useEffect, useState, type ReactNode } from "react";

import { common } from "@/text";

import { Button, type ButtonProps } from "./button";

/** Puts `value` on the clipboard and says so for two seconds. */
export function CopyButton({ value, children, ...rest }: Omit<ButtonProps, "value"> & { value: string; children?: ReactNode }) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 2_000);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <Button {...rest} icon={isDone ? "check" : "copy"} onClick={() => void copy(value).then(() => setDone(true))}>
      <span aria-live="polite">{isDone ? common.copied : (children ?? common.copy)}</span>
    </Button>
  );
}

/** Without HTTPS a browser keeps its clipboard to itself; a selected field still works there. */
async function copy(value: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(value);
  const field = document.createElement("textarea");
  field.value = value;
  field.style.position = "fixed";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
