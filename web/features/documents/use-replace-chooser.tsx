"use client";

import { useRef, type ReactNode } from "react";

import type { Document } from "@/lib/api";

/** The system's window for the one file that is to take a document's place. */
export function useReplaceChooser(onChosen: (document: Document, file: File) => void): { choose: (document: Document) => void; input: ReactNode } {
  const box = useRef<HTMLInputElement>(null);
  const wanted = useRef<Document | null>(null);
  return {
    choose: (document) => {
      wanted.current = document;
      box.current?.click();
    },
    input: (
      <input
        ref={box}
        type="file"
        hidden
        tabIndex={-1}
        data-upload="replacement"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file && wanted.current) onChosen(wanted.current, file);
        }}
      />
    ),
  };
}
