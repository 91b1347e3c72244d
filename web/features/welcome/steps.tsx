import type { ReactNode } from "react";

import { classNames } from "@/components/ui/class-names";
import { Icon } from "@/components/ui/icons";

export type StepState = "done" | "now" | "later";

/** Steps under each other, joined by a line. */
export function Steps({ children }: { children: ReactNode }) {
  return <ol className="mt-8">{children}</ol>;
}

const LOOKS: Record<StepState, string> = {
  done: "bg-st-completed-soft text-st-completed",
  now: "bg-petrol-fill text-on-petrol",
  later: "border border-line-2 text-ink-2",
};

export function Step({ number, state, title, children }: { number: number; state: StepState; title: string; children: ReactNode }) {
  return (
    <li
      aria-current={state === "now" ? "step" : undefined}
      className="relative pb-8 pl-[46px] before:absolute before:top-[34px] before:bottom-0 before:left-[15px] before:w-px before:bg-line-2 last:before:hidden"
    >
      <span
        aria-hidden="true"
        className={classNames("absolute top-0 left-0 grid size-[30px] place-items-center rounded-full font-doc text-16 font-semibold", LOOKS[state])}
      >
        {state === "done" ? <Icon name="check" /> : number}
      </span>
      <h2 className={classNames("pt-[3px] text-16 font-semibold", state === "later" && "text-ink-2")}>{title}</h2>
      <div className="mt-1 max-w-[75ch] text-ink-2">{children}</div>
    </li>
  );
}
