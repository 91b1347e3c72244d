"use client";

import { useNow } from "@/lib/use-now";
import { formatExactTime, formatTime } from "@/lib/format";

/** A time in the reader's zone and words; the exact one on hover. It keeps itself true. */
export function Time({ at, className }: { at: string; className?: string }) {
  const now = useNow();
  const time = new Date(at);
  return (
    <time dateTime={at} title={formatExactTime(time)} className={className}>
      {formatTime(time, now)}
    </time>
  );
}
