"use client";

import type { RefObject } from "react";

import { IconButton } from "@/components/ui/button";
import { Input } from "@/components/ui/field";
import { formatCount } from "@/lib/format";
import { useTyped } from "@/lib/use-typed";
import { document as text } from "@/text";

import type { Viewer } from "./use-viewer";

const t = text.find;

/** Finds inside of the document: the marks follow the typing, Enter goes to the next one. */
export function FindField({ viewer, field }: { viewer: Viewer; field: RefObject<HTMLInputElement | null> }) {
  const [typed, setTyped] = useTyped(viewer.find, viewer.setFind);
  const hasTyped = typed.trim() !== "";
  return (
    <div role="search" className="min-w-0 flex-[1_1_180px] md:max-w-[320px]">
      <Input
        ref={field}
        icon="search"
        type="search"
        enterKeyHint="search"
        aria-label={t.label}
        placeholder={t.placeholder}
        value={typed}
        maxLength={500}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.nativeEvent.isComposing) viewer.step(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") {
            if (hasTyped) setTyped("");
            else event.currentTarget.blur();
          }
        }}
        boxClass="pr-1"
        className="[&::-webkit-search-cancel-button]:hidden"
        after={
          <>
            <span role="status" className="shrink-0 text-12 whitespace-nowrap text-ink-3">
              {hasTyped && typed.trim() === viewer.find.trim() && !viewer.isFinding ? countOf(viewer) : ""}
            </span>
            {viewer.matches.length > 0 && (
              <span className="flex shrink-0">
                <IconButton label={t.previous} icon="left" size="small" className="size-6 coarse:min-w-9!" onClick={() => viewer.step(-1)} />
                <IconButton label={t.next} icon="right" size="small" className="size-6 coarse:min-w-9!" onClick={() => viewer.step(1)} />
              </span>
            )}
          </>
        }
      />
    </div>
  );
}

function countOf({ matches, matchIndex, hasFindFailed }: Viewer): string {
  if (hasFindFailed) return t.failed;
  if (matches.length === 0) return t.none;
  return matchIndex === null ? t.some(matches.length) : t.of(formatCount(matchIndex + 1), formatCount(matches.length));
}
