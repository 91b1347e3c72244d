"use client";

import { useRef, type ChangeEvent } from "react";

import { withoutLitter } from "./entries";
import { uploads, uploadType } from "./uploads";

export interface Chooser {
  chooseFiles: () => void;
  chooseFolder: () => void;
  /** Has to stand somewhere on the page. */
  inputs: React.ReactNode;
}

/** Opens the system's own windows for choosing. What is chosen goes into the queue of `kbId`. */
export function useChooser(kbId: string): Chooser {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (event: ChangeEvent<HTMLInputElement>) => {
    const chosen = withoutLitter(event.target.files ?? []);
    event.target.value = ""; // the same file can be chosen again
    if (chosen.length > 0) uploads.add(kbId, chosen, uploadType.get());
  };
  return {
    chooseFiles: () => files.current?.click(),
    chooseFolder: () => folder.current?.click(),
    inputs: (
      <>
        <input ref={files} type="file" multiple hidden tabIndex={-1} data-upload="files" onChange={take} />
        <input ref={folder} type="file" hidden tabIndex={-1} data-upload="folder" onChange={take} {...{ webkitdirectory: "" }} />
      </>
    ),
  };
}
