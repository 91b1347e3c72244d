"use client";

import * as Radix from "@radix-ui/react-tabs";
import type { ReactNode } from "react";

import { classNames } from "./class-names";

export interface TabChoice<Value extends string> {
  value: Value;
  label: ReactNode;
  count?: string | undefined;
  /** The count asks for attention. */
  isBad?: boolean;
}

const TAB =
  "inline-flex h-control shrink-0 items-center gap-1.5 rounded-control px-2.5 text-13 font-medium whitespace-nowrap text-ink-2 hover:bg-sunk " +
  "data-[state=active]:bg-petrol-soft data-[state=active]:font-semibold data-[state=active]:text-petrol-2";

/** Panels behind a row of tabs. Those that are not shown are not rendered. */
export function Tabs<Value extends string>({
  label,
  value,
  onChoose,
  tabs,
  children,
  className,
}: {
  label: string;
  value: Value;
  onChoose: (value: Value) => void;
  tabs: readonly TabChoice<Value>[];
  children: ReactNode;
  className?: string;
}) {
  return (
    <Radix.Root value={value} onValueChange={(chosen) => onChoose(chosen as Value)} className={className}>
      <Radix.List aria-label={label} className="flex gap-0.5 overflow-x-auto [scrollbar-width:none]">
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.value} value={tab.value} className={TAB}>
            {tab.label}
            {tab.count !== undefined && <span className={classNames("font-normal", tab.isBad ? "text-wax" : "text-ink-3")}>{tab.count}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  );
}

export function TabPanel({ value, children, className }: { value: string; children: ReactNode; className?: string }) {
  return (
    <Radix.Content value={value} className={className}>
      {children}
    </Radix.Content>
  );
}

/** A row of values of one filter, which look like tabs and have no panels: `All 1,284 · Failed 2`. */
export function Segments<Value extends string>({
  label,
  value,
  onChoose,
  choices,
}: {
  label: string;
  value: Value;
  onChoose: (value: Value) => void;
  choices: readonly TabChoice<Value>[];
}) {
  return (
    <div role="group" aria-label={label} className="flex min-w-0 gap-0.5 overflow-x-auto [scrollbar-width:none] max-md:-mx-4 max-md:px-4">
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          data-state={choice.value === value ? "active" : "inactive"}
          onClick={() => onChoose(choice.value)}
          className={classNames(TAB, "focus-visible:outline-offset-[-2px]")}
        >
          {choice.label}
          {choice.count !== undefined && (
            <span className={classNames(choice.isBad ? "font-semibold text-wax" : "font-normal", choice.value !== value && !choice.isBad && "text-ink-3")}>
              {choice.count}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
