"use client";

import type { RefObject } from "react";

import { Icon } from "@/components/ui/icons";
import { search as t } from "@/text";

/** The one line of the page: large, and in the document's voice, for it is the document's words that one looks for. */
export function SearchField({
  field,
  typed,
  onType,
  onEnter,
  onDown,
}: {
  field: RefObject<HTMLInputElement | null>;
  typed: string;
  onType: (typed: string) => void;
  onEnter: () => void;
  onDown: () => void;
}) {
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onEnter();
      }}
      className="flex h-[46px] items-center gap-2.5 rounded-control border border-edge bg-raised px-4 focus-within:border-focus focus-within:outline-2 focus-within:outline-offset-1 focus-within:outline-focus dark:bg-sunk"
    >
      <Icon name="search" className="text-ink-3" />
      <input
        ref={field}
        type="search"
        enterKeyHint="search"
        aria-label={t.field}
        placeholder={t.placeholder}
        value={typed}
        maxLength={1_000}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onType(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" && !event.nativeEvent.isComposing) {
            event.preventDefault();
            onDown();
          }
          if (event.key === "Escape" && typed) {
            event.preventDefault();
            onType("");
          }
        }}
        className="w-full min-w-0 bg-transparent font-doc text-18 outline-none [&::-webkit-search-cancel-button]:hidden"
      />
      {typed === "" ? (
        <kbd className="coarse:hidden">/</kbd>
      ) : (
        <button
          type="button"
          aria-label={t.clear}
          className="grid size-7 shrink-0 place-items-center rounded-control hover:bg-sunk coarse:size-11"
          onClick={() => {
            onType("");
            field.current?.focus();
          }}
        >
          <Icon name="close" />
        </button>
      )}
    </form>
  );
}
