/**
 * Places in a text. The server counts Unicode characters, JavaScript halves of some: texts with spans are cut here only.
 */
export type Span = readonly [start: number, end: number];

export interface Piece {
  text: string;
  /** Which of the spans it is; null for what lies between. */
  span: number | null;
}

const HALVES = /[\ud800-\udfff]/;

/** A text whose characters can be counted as the server counts them. */
export function cutter(text: string): (start: number, end: number) => string {
  if (!HALVES.test(text)) return (start, end) => text.slice(start, end);
  const letters = [...text];
  return (start, end) => letters.slice(start, end).join("");
}

export const lengthOf = (text: string): number => (HALVES.test(text) ? [...text].length : text.length);

/** The whole text in pieces, marked and not. Spans in their order; what lies outside of the text is left out. */
export function piecesOf(text: string, spans: readonly Span[]): Piece[] {
  const cut = cutter(text);
  const length = lengthOf(text);
  const pieces: Piece[] = [];
  let at = 0;
  spans.forEach(([start, end], index) => {
    const from = Math.max(start, at);
    const to = Math.min(end, length);
    if (from >= to) return;
    if (from > at) pieces.push({ text: cut(at, from), span: null });
    pieces.push({ text: cut(from, to), span: index });
    at = to;
  });
  if (at < length) pieces.push({ text: cut(at, length), span: null });
  return pieces;
}

/** Words beside each other as one: `notice period` is one mark, not two. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last && span[0] - last[1] <= 1) joined[joined.length - 1] = [last[0], Math.max(last[1], span[1])];
    else joined.push(span);
  }
  return joined;
}

/** Those that touch a part of the text, counted from where it begins. A part keeps the spans' own numbers by `piecesOf`. */
export function spansWithin(spans: readonly Span[], [start, end]: Span): Span[] {
  return spans.map(([from, to]) => [Math.max(from, start) - start, Math.min(to, end) - start] as const);
}

export const overlaps = ([start, end]: Span, [from, to]: Span): boolean => start < to && end > from;
