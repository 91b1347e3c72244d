"use client";

import { useEffect, useId, useRef, useState } from "react";

import { dayBefore, dayOf, midnight } from "@/lib/days";
import { formatDay } from "@/lib/format";
import { common } from "@/text";

import { Button } from "./button";
import { classNames } from "./class-names";
import { Icon } from "./icons";
import { Labelled } from "./field";

export interface Range {
  from: string;
  to: string;
}

/** A filter by days, both included: `Archived 1 Oct – 15 Nov ×`. */
export function DateRange({ label, from, to, onChange }: Range & { label: string; onChange: (range: Range) => void }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const panel = useId();
  const isOn = from !== "" || to !== "";
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [isOpen]);
  return (
    <div
      ref={box}
      className="relative flex min-w-0"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.stopPropagation();
        setOpen(false);
        trigger.current?.focus();
      }}
    >
      <button
        ref={trigger}
        type="button"
        aria-expanded={isOpen}
        aria-controls={panel}
        onClick={() => setOpen(!isOpen)}
        className={classNames(
          "inline-flex h-control min-w-0 items-center gap-2 border px-2.5 text-13 whitespace-nowrap",
          isOn ? "rounded-l-control border-r-0 border-petrol bg-petrol-soft" : "rounded-control border-line-2 bg-sheet hover:border-edge",
        )}
      >
        <Icon name="calendar" className="text-ink-3" />
        <span className="text-ink-3">{label}</span>
        <span className="truncate">{wordsOf(from, to)}</span>
        {!isOn && <Icon name="down" className="text-ink-3" />}
      </button>
      {isOn && (
        <button
          type="button"
          aria-label={common.range.clear(label)}
          onClick={() => onChange({ from: "", to: "" })}
          className="inline-grid h-control w-8 place-items-center rounded-r-control border border-l-0 border-petrol bg-petrol-soft text-ink-3 hover:text-ink"
        >
          <Icon name="close" size={12} />
        </button>
      )}
      <div
        id={panel}
        hidden={!isOpen}
        role="group"
        aria-label={label}
        className="absolute top-[calc(100%+4px)] left-0 z-[60] grid w-[264px] gap-3 rounded-sheet border border-line-2 bg-raised p-3 shadow-2"
      >
        <Day label={common.range.from} value={from} max={to} onDay={(day) => onChange({ from: day, to })} />
        <Day label={common.range.to} value={to} min={from} onDay={(day) => onChange({ from, to: day })} />
        <div className="flex flex-wrap gap-1.5">
          {(
            [
              [common.range.today, 0],
              [common.range.week, 6],
              [common.range.month, 29],
            ] as const
          ).map(([name, days]) => (
            <Button key={name} size="small" onClick={() => onChange({ from: dayBefore(new Date(), days), to: dayOf(new Date()) })}>
              {name}
            </Button>
          ))}
        </div>
      </div>
    </div>
  );
}

function Day({ label, value, onDay, ...limits }: { label: string; value: string; onDay: (day: string) => void; min?: string; max?: string }) {
  const id = useId();
  return (
    <Labelled id={id} label={label}>
      <input
        {...limits}
        id={id}
        type="date"
        value={value}
        onChange={(event) => onDay(event.target.value)}
        className="h-control w-full rounded-control border border-edge bg-raised px-2.5 text-13 text-ink dark:bg-sunk coarse:text-16"
      />
    </Labelled>
  );
}

function wordsOf(from: string, to: string): string {
  const words = (day: string) => formatDay(midnight(day, 0), new Date());
  if (from && to) return from === to ? words(from) : common.range.between(words(from), words(to));
  if (from) return common.range.since(words(from));
  return to ? common.range.until(words(to)) : common.range.any;
}
