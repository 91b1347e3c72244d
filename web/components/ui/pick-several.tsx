"use client";

import { classNames } from "./class-names";
import { Icon } from "./icons";
import { Menu, MenuCheck, MenuItem, MenuLine } from "./menu";

/** A filter with several of many values: `In 3 knowledge bases ⌄`. Marked while it filters. */
export function PickSeveral<Value extends string>({
  label,
  summary,
  chosen,
  choices,
  onChoose,
  clear,
}: {
  label: string;
  /** What is chosen, in words. */
  summary: string;
  chosen: readonly Value[];
  choices: readonly { value: Value; label: string }[];
  onChoose: (chosen: readonly Value[]) => void;
  /** The word for none of them, which filters nothing. */
  clear: string;
}) {
  const toggle = (value: Value, isOn: boolean) => onChoose(isOn ? [...chosen, value] : chosen.filter((one) => one !== value));
  return (
    <Menu
      align="start"
      width={220}
      trigger={
        <button
          type="button"
          className={classNames(
            "inline-flex h-control max-w-full min-w-0 items-center gap-2 rounded-control border px-2.5 text-13 whitespace-nowrap",
            chosen.length > 0 ? "border-petrol bg-petrol-soft" : "border-line-2 bg-sheet hover:border-edge",
          )}
        >
          <span className="text-ink-3">{label}</span>
          <bdi className="truncate">{summary}</bdi>
          <Icon name="down" className="text-ink-3" />
        </button>
      }
    >
      {choices.map((choice) => (
        <MenuCheck key={choice.value} isOn={chosen.includes(choice.value)} onToggle={(isOn) => toggle(choice.value, isOn)}>
          <bdi>{choice.label}</bdi>
        </MenuCheck>
      ))}
      {chosen.length > 0 && (
        <>
          <MenuLine />
          <MenuItem icon="close" onSelect={() => onChoose([])}>
            {clear}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
