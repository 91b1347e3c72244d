"use client";

import { useEffect, useRef, useState, type Ref } from "react";

import { Input } from "@/components/ui/field";
import { documents as t } from "@/text";

const CALM_MS = 180;

/**
 * Typing is this field's own business: the address, and with it the list, follows when the hand rests. A new value of the
 * address (the back button, Clear filters) comes back into the field.
 */
export function FilterField({ value, onFilter, ref }: { value: string; onFilter: (q: string) => void; ref?: Ref<HTMLInputElement> }) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  if (value !== known) {
    setKnown(value);
    setTyped(value);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = (q: string) => {
    clearTimeout(timer.current);
    setKnown(q);
    onFilter(q);
  };
  return (
    <Input
      ref={ref}
      type="search"
      icon="search"
      aria-label={t.filter}
      placeholder={t.filter}
      value={typed}
      onChange={(event) => {
        const q = event.target.value;
        setTyped(q);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => tell(q), CALM_MS);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") tell(typed);
        if (event.key === "Escape") event.currentTarget.blur();
      }}
      boxClass="w-[216px] max-lg:flex-[1_1_220px] max-md:h-10 max-md:flex-[1_1_100%] max-md:text-16"
      className="max-md:text-16 [&::-webkit-search-cancel-button]:appearance-none"
      after={<kbd className="max-md:hidden">/</kbd>}
    />
  );
}
