"use client";

import { classNames } from "./class-names";
import { Icon } from "./icons";
import { Menu, MenuChoices } from "./menu";

/** A filter with one of several values: `Type Any ⌄`. Marked while it filters. */
export function Pick<Value extends string>({
  label,
  value,
  choices,
  onChoose,
  none,
}: {
  label: string;
  value: Value;
  choices: readonly { value: Value; label: string }[];
  onChoose: (value: Value) => void;
  /** The value that filters nothing. */
  none?: Value;
}) {
  const chosen = choices.find((choice) => choice.value === value)?.label ?? value;
  const isOn = none !== undefined && value !== none;
  return (
    <Menu
      align="end"
      width={180}
      trigger={
        <button
          type="button"
          className={classNames(
            "inline-flex h-control max-w-full min-w-0 shrink-0 items-center gap-2 rounded-control border px-2.5 text-13 whitespace-nowrap",
            isOn ? "border-petrol bg-petrol-soft" : "border-line-2 bg-sheet hover:border-edge",
          )}
        >
          <span className="text-ink-3">{label}</span>
          <span className="truncate">{chosen}</span>
          <Icon name="down" className="text-ink-3" />
        </button>
      }
    >
      <MenuChoices value={value} choices={choices} onChoose={onChoose} />
    </Menu>
  );
}
