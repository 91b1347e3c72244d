/** Which labels fit what was typed, the best first, with the letters that fit. */
import type { Span } from "@/lib/spans";

export interface Fit {
  score: number;
  /** In characters of the label. */
  spans: readonly Span[];
}

/**
 * Every word of what was typed must stand somewhere in the label, at the beginning of a word or inside of one. Beginnings
 * count more, the very beginning most, and a short label more than a long one. Null where it does not fit.
 */
export function fitOf(label: string, typed: string): Fit | null {
  const words = lower(typed).split(/\s+/).filter(Boolean);
  const letters = [...label].map(lowerLetter);
  const spans: Span[] = [];
  let score = 0;
  for (const word of words) {
    const found = bestPlace(letters, [...word], spans);
    if (!found) return null;
    spans.push([found.at, found.at + [...word].length]);
    score += found.score;
  }
  return { score: score - letters.length / 1000, spans: spans.toSorted((one, other) => one[0] - other[0]) };
}

const lower = (text: string): string => text.toLocaleLowerCase("en-GB");

/** One letter for one letter, so that places stay true: İ becomes two in lower case. */
const lowerLetter = (letter: string): string => [...lower(letter)][0] ?? letter;

function bestPlace(letters: readonly string[], word: readonly string[], taken: readonly Span[]): { at: number; score: number } | null {
  let best: { at: number; score: number } | null = null;
  for (let at = 0; at + word.length <= letters.length; at += 1) {
    if (!word.every((letter, index) => letters[at + index] === letter)) continue;
    if (taken.some(([start, end]) => at < end && at + word.length > start)) continue;
    const score = at === 0 ? 4 : isBoundary(letters[at - 1]) ? 3 : 1;
    if (!best || score > best.score) best = { at, score };
  }
  return best;
}

const isBoundary = (letter: string | undefined): boolean => letter === undefined || !/[\p{L}\p{N}]/u.test(letter);

export type Ranked<Item> = Item & { spans: readonly Span[] };

/** Those that fit, the best first; with nothing typed all of them, as they stand. */
export function ranked<Item>(items: readonly Item[], typed: string, labelOf: (item: Item) => string): Ranked<Item>[] {
  if (typed.trim() === "") return items.map((item) => ({ ...item, spans: [] }));
  return items
    .flatMap((item) => {
      const fit = fitOf(labelOf(item), typed);
      return fit ? [{ item, fit }] : [];
    })
    .toSorted((one, other) => other.fit.score - one.fit.score)
    .map(({ item, fit }) => ({ ...item, spans: fit.spans }));
}
