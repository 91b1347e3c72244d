/** Sizes, times and counts as people write them, in the reader's own zone. */

const NBSP = "\u00a0";
const LANGUAGE = "en-GB";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const UNITS: readonly string[] = ["B", "kB", "MB", "GB", "TB"];

/** Three digits at most, decimal units as the system's file manager shows: `740 kB`, `6.1 MB`, `18.6 GB`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 999,500 bytes would be written as "1,000 kB": it is 1 MB.
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && value < 99.95 ? 1 : 0;
  const rounded = value.toFixed(digits).replace(/\.0$/, "");
  return `${rounded}${NBSP}${UNITS[unit] ?? "TB"}`;
}

/** `14.2 of 22.8 MB`: both in the unit of the whole. */
export function formatSizeOf(done: number, total: number): string {
  const whole = formatSize(total);
  const unit = whole.slice(whole.indexOf(NBSP) + 1);
  const divisor = 1000 ** UNITS.indexOf(unit);
  const part = done / divisor;
  return `${part.toFixed(part < 99.95 && divisor > 1 ? 1 : 0)} of ${whole}`;
}

const numbers = new Intl.NumberFormat(LANGUAGE);

export const formatCount = (count: number): string => numbers.format(count);

/** `1 document`, `1,284 documents`. */
export function plural(count: number, one: string, many: string): string {
  return `${formatCount(count)}${NBSP}${count === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export const formatList = (items: readonly string[]): string => new Intl.ListFormat(LANGUAGE, { type: "conjunction" }).format(items);

/** Just now, 6 min ago, 09:41, Yesterday, 12 Nov, 3 Feb 2022. */
export function formatTime(time: Date, now: Date): string {
  const age = now.getTime() - time.getTime();
  if (age >= -MINUTE && age < MINUTE) return "just now";
  if (age >= 0 && age < HOUR) return `${Math.floor(age / MINUTE)}${NBSP}min ago`;
  const days = daysBetween(time, now);
  if (days === 0) return formatClock(time);
  if (days === 1) return "Yesterday";
  if (days === -1) return "Tomorrow";
  return formatDay(time, now);
}

/** `12 Nov`, with the year where it is another one. */
export function formatDay(time: Date, now: Date): string {
  const isThisYear = time.getFullYear() === now.getFullYear();
  return nbsp(time.toLocaleDateString(LANGUAGE, { day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) }));
}

export const formatClock = (time: Date): string => time.toLocaleTimeString(LANGUAGE, { hour: "2-digit", minute: "2-digit" });

/** With seconds and zone: `15 Nov 2026, 10:02:41 CET`. */
export function formatExactTime(time: Date): string {
  const date = time.toLocaleDateString(LANGUAGE, { day: "numeric", month: "short", year: "numeric" });
  const clock = time.toLocaleTimeString(LANGUAGE, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
  return `${date}, ${clock}`;
}

/** How many midnights of the reader's zone lie between. */
function daysBetween(time: Date, now: Date): number {
  const day = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((day(now) - day(time)) / (24 * HOUR));
}

/** `8 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}${NBSP}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return join([minutes, "min"], [whole % 60, "s"]);
  return join([Math.floor(minutes / 60), "h"], [minutes % 60, "min"]);
}

function join(...parts: readonly (readonly [number, string])[]): string {
  return parts
    .filter(([value], index) => index === 0 || value > 0)
    .map(([value, unit]) => `${formatCount(value)}${NBSP}${unit}`)
    .join(NBSP);
}

const nbsp = (value: string): string => value.replaceAll(" ", NBSP);

/** Two letters for a round picture: of the first and the last part in front of the @. */
export function initialsOf(email: string): string {
  const parts = (email.split("@")[0] ?? "").split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = parts.length > 1 ? `${first(parts[0])}${first(parts.at(-1))}` : [...(parts[0] ?? "?")].slice(0, 2).join("");
  return letters.toLocaleUpperCase(LANGUAGE);
}

const first = (word: string | undefined): string => [...(word ?? "")][0] ?? "";

const graphemes = new Intl.Segmenter(LANGUAGE);

/** Where a name is cut when it is too long: its end, with number and extension, always shows. */
export function splitName(name: string): [head: string, tail: string] {
  const letters = Array.from(graphemes.segment(name), ({ segment }) => segment);
  const keep = letters.length > 18 ? 10 : 0;
  return [letters.slice(0, letters.length - keep).join(""), letters.slice(letters.length - keep).join("")];
}

/** `Rechnung.PDF` is a PDF. Empty where a name has no extension. */
export function extensionOf(name: string): string {
  const match = /\.([^.\s]{1,5})$/.exec(name);
  return match?.[1]?.toLocaleUpperCase(LANGUAGE) ?? "";
}
