"use client";

import { useId } from "react";

import { Input } from "@/components/ui/field";
import { Icon } from "@/components/ui/icons";
import { archive as t } from "@/text";

/** Exactly, capitals and all: whoever types it means it. */
export const isTheWord = (typed: string): boolean => typed === t.purge.word;

export function DeleteField({ value, onValue, onEnter }: { value: string; onValue: (value: string) => void; onEnter: () => void }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block text-13 font-semibold text-ink">
        {t.purge.typeBefore} <span className="font-proof text-wax">{t.purge.word}</span> {t.purge.typeAfter}
      </label>
      <Input
        id={id}
        autoFocus
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onValue(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && isTheWord(value) && onEnter()}
        className="font-proof tracking-[0.08em]"
        boxClass="min-h-[38px] text-14"
        after={isTheWord(value) && <Icon name="check" className="text-wax" />}
      />
    </div>
  );
}
