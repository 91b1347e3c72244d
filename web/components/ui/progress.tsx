import { classNames } from "./class-names";

export type ProgressTone = "busy" | "paused" | "failed" | "done";

const SOFT: Record<ProgressTone, string> = {
  busy: "bg-[color-mix(in_oklab,var(--st-processing)_38%,var(--sheet))]",
  paused: "bg-edge/50",
  failed: "bg-wax",
  done: "bg-st-completed",
};
const FULL: Record<ProgressTone, string> = {
  busy: "bg-st-processing forced-colors:bg-[Highlight]",
  paused: "bg-edge",
  failed: "bg-wax",
  done: "bg-st-completed",
};

/**
 * One bar, two passes: bytes fill it softly, reading fills the same bar in full colour, so that it never runs back.
 * Both from 0 to 1. A reader hears `label` and the pass that is under way.
 */
export function Progress({
  label,
  sent,
  read = 0,
  tone = "busy",
  className,
}: {
  label: string;
  sent: number;
  read?: number;
  tone?: ProgressTone;
  className?: string;
}) {
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent(read > 0 ? read : sent)}
      className={classNames("relative block h-1 overflow-hidden rounded-[2px] bg-line-2", className)}
    >
      <span
        className={classNames("absolute inset-y-0 left-0 rounded-[2px] transition-[width] duration-[160ms] ease-linear", SOFT[tone])}
        style={{ width: `${percent(sent)}%` }}
      />
      <span
        className={classNames("absolute inset-y-0 left-0 rounded-[2px] transition-[width] duration-[160ms] ease-linear", FULL[tone])}
        style={{ width: `${percent(read)}%` }}
      />
    </span>
  );
}

const percent = (part: number): number => Math.round(Math.min(1, Math.max(0, part)) * 100);
