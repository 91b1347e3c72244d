"use client";

import { useEffect, useRef, useState, type Ref } from "react";

import { common } from "@/text";

import { Input } from "./field";
import { Icon } from "./icons";

const DELAY_MS = 300;

/** Asks when nothing was typed for 300 ms, or at once on Enter. What the address says from elsewhere (back, Clear) wins. */
export function SearchField({
  label,
  value,
  onSearch,
  boxClass,
  ref,
}: {
  label: string;
  value: string;
  onSearch: (value: string) => void;
  boxClass?: string;
  ref?: Ref<HTMLInputElement>;
}) {
  const [typed, setTyped] = useState(value);
  const asked = useRef(value);
  const search = useRef(onSearch);
  useEffect(() => {
    search.current = onSearch;
  });
  useEffect(() => {
    if (value === asked.current) return;
    asked.current = value;
    setTyped(value);
  }, [value]);
  const ask = (wanted: string) => {
    if (wanted === asked.current) return;
    asked.current = wanted;
    search.current(wanted);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `ask` reads refs only
  useEffect(() => {
    const timer = setTimeout(() => ask(typed.trim()), DELAY_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <Input
      {...(ref ? { ref } : {})}
      type="search"
      icon="search"
      aria-label={label}
      placeholder={label}
      maxLength={200}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => event.key === "Enter" && ask(typed.trim())}
      className="[&::-webkit-search-cancel-button]:hidden"
      {...(boxClass ? { boxClass } : {})}
      after={
        typed ? (
          <button
            type="button"
            aria-label={common.clear}
            onClick={() => setTyped("")}
            className="-mr-1 grid size-6 shrink-0 place-items-center rounded-mark text-ink-3 hover:text-ink"
          >
            <Icon name="close" size={14} />
          </button>
        ) : (
          <kbd className="coarse:hidden">/</kbd>
        )
      }
    />
  );
}
