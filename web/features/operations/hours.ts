/** What the last day's figures say, in words. */
import type { QueueNumbers } from "@/lib/api";
import { formatClock } from "@/lib/format";
import { operations as t } from "@/text";

export type Hour = QueueNumbers["hours"][number];

/** `In the last 24 hours … were read and … failed. Most, 40, from 09:00 to 10:00.` */
export function findingOf(hours: readonly Hour[]): string {
  const sum = (count: (hour: Hour) => number) => hours.reduce((total, hour) => total + count(hour), 0);
  const words = t.processing.finding(
    sum((hour) => hour.done),
    sum((hour) => hour.failed),
  );
  const busiest = hours.reduce<Hour | null>((most, hour) => (hour.done > (most?.done ?? 0) ? hour : most), null);
  if (!busiest) return `${words}.`;
  const [from, to] = clocksOf(busiest);
  return `${words}. ${t.processing.most(busiest.done, from, to)}.`;
}

export function clocksOf({ hour }: Hour): [from: string, to: string] {
  const begins = new Date(hour);
  return [formatClock(begins), formatClock(new Date(begins.getTime() + 3_600_000))];
}
