/** Days as a date field writes them, `2026-11-15`, in the reader's own zone: the API wants moments. */

/** The first moment of the day. */
export const startOfDay = (day: string): string => midnight(day, 0).toISOString();

/** The first moment of the next day, for an end that is not included. */
export const afterDay = (day: string): string => midnight(day, 1).toISOString();

/** The last moment of the day, for an end that is included. */
export const endOfDay = (day: string): string => new Date(midnight(day, 1).getTime() - 1).toISOString();

/** `days` before the day of `now`. */
export function dayBefore(now: Date, days: number): string {
  return dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days));
}

export function dayOf(time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** As a date without a time; by its parts, for `new Date("2026-11-15")` is midnight in London. */
export function midnight(day: string, later: number): Date {
  const [year = 1970, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later);
}
