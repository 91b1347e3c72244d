"use client";

import { useId, type SelectHTMLAttributes } from "react";

import { classNames } from "./class-names";
import { Labelled } from "./field";
import { Icon } from "./icons";

export interface Choice<Value extends string> {
  value: Value;
  label: string;
}

interface Props<Value extends string> extends Omit<SelectHTMLAttributes<HTMLSelectElement>, "value" | "onChange"> {
  value: Value;
  choices: readonly Choice<Value>[];
  onChoose: (value: Value) => void;
}

/** The browser's own list: it fits every screen, and every reader knows it. Give `aria-label`, or use `SelectField`. */
export function Select<const Value extends string>({ value, choices, onChoose, ...rest }: Props<Value>) {
  return (
    <span className={classNames("relative inline-flex min-w-0", rest.className)}>
      <select
        {...rest}
        value={value}
        onChange={(event) => {
          const chosen = choices.find((choice) => choice.value === event.target.value);
          if (chosen) onChoose(chosen.value);
        }}
        className="h-control w-full appearance-none truncate rounded-control border border-edge bg-raised pr-8 pl-2.5 text-13 text-ink disabled:border-line disabled:bg-sunk disabled:text-ink-3 dark:bg-sunk coarse:text-16"
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Icon name="down" className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-ink-3" />
    </span>
  );
}

export function SelectField<const Value extends string>({ label, hint, ...rest }: Props<Value> & { label: string; hint?: string }) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint}>
      <Select {...rest} id={id} aria-describedby={hint ? `${id}-hint` : undefined} className={classNames("w-full", rest.className)} />
    </Labelled>
  );
}
