"use client";

import { createContext, use, useId, type KeyboardEvent, type ReactNode } from "react";

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

const Current = createContext<{ id: string; value: string } | null>(null);

/** Panels behind a row of tabs, which arrow keys go along. Those that are not shown are not rendered. */
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
  const id = useId();
  const go = (event: KeyboardEvent<HTMLElement>) => {
    const next =
      tabs[
        placeAfter(
          event.key,
          tabs.findIndex((tab) => tab.value === value),
          tabs.length,
        )
      ];
    if (!next) return;
    event.preventDefault();
    onChoose(next.value);
    document.getElementById(`${id}-${next.value}`)?.focus();
  };
  return (
    <div className={className}>
      <div role="tablist" aria-label={label} onKeyDown={go} className="flex gap-0.5 overflow-x-auto p-0.5 [scrollbar-width:none]">
        {tabs.map((tab) => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={`${id}-${tab.value}`}
            aria-selected={tab.value === value}
            aria-controls={tab.value === value ? `${id}-panel` : undefined}
            tabIndex={tab.value === value ? 0 : -1}
            data-state={tab.value === value ? "active" : "inactive"}
            onClick={() => onChoose(tab.value)}
            className={TAB}
          >
            {tab.label}
            {tab.count !== undefined && <span className={classNames("font-normal", tab.isBad ? "text-wax" : "text-ink-3")}>{tab.count}</span>}
          </button>
        ))}
      </div>
      <Current value={{ id, value }}>{children}</Current>
    </div>
  );
}

/** Where a key leads among so many tabs; -1 for a key that is not theirs. */
function placeAfter(key: string, at: number, count: number): number {
  if (key === "ArrowRight") return (at + 1) % count;
  if (key === "ArrowLeft") return (at - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : -1;
}

export function TabPanel({ value, children, className }: { value: string; children: ReactNode; className?: string }) {
  const current = use(Current);
  if (current?.value !== value) return null;
  return (
    <div role="tabpanel" id={`${current.id}-panel`} aria-labelledby={`${current.id}-${value}`} tabIndex={0} className={className}>
      {children}
    </div>
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
