/** The measures of a bar chart: a round top, four lines, and where each bar stands. */

export const LINES = 4;

/** The smallest step of 1, 2 or 5 times a power of ten, of which four reach over the highest bar. Counts are whole. */
export function stepOf(highest: number): number {
  const least = Math.max(1, highest / LINES);
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * power >= least) ?? 10;
  return factor * power;
}

/** From zero to the top, the top included. */
export const ticksOf = (step: number): number[] => Array.from({ length: LINES + 1 }, (_, index) => index * step);

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Bar {
  x: number;
  width: number;
}

/** As many equal places from left to right, each bar in the middle of its own, three quarters as wide. */
export function barsOf(count: number, { left, right }: Frame): Bar[] {
  const place = (right - left) / count;
  return Array.from({ length: count }, (_, index) => ({ x: left + index * place + place / 8, width: Math.max(1, place * 0.75) }));
}

/** Where a value stands; zero at the bottom. */
export const heightAt = (value: number, step: number, { top, bottom }: Frame): number => bottom - (value / (step * LINES)) * (bottom - top);
