/**
 * From the page's own units to places on its picture. A layout is the page as people see it, turned already, with the
 * corner at the upper left: whatever its rotation was, a box is a share of width and height. As percent it fits every zoom.
 */
import type { Layout } from "@/lib/api";
import { overlaps, type Span } from "@/lib/spans";

export type Box = readonly [left: number, top: number, right: number, bottom: number];
export type Extent = Pick<Layout, "width" | "height">;

export interface Place {
  left: string;
  top: string;
  width: string;
  height: string;
}

export function placeOf([left, top, right, bottom]: Box, { width, height }: Extent): Place {
  const x = share(left, width);
  const y = share(top, height);
  return {
    left: percent(x),
    top: percent(y),
    width: percent(share(right, width) - x),
    height: percent(share(bottom, height) - y),
  };
}

/** Between 0 and 1: what a file says to lie beside its page is shown at the edge. */
const share = (value: number, whole: number): number => Math.min(1, Math.max(0, value / whole));

const percent = (part: number): string => `${Math.round(Math.max(0, part) * 100_000) / 1000}%`;

/** Of the words that stand in these places of the text. */
export function boxesOf(spans: readonly Span[], words: Layout["words"]): Box[] {
  return words.flatMap(([start, end, left, top, right, bottom]) =>
    spans.some((span) => overlaps(span, [start, end])) ? [[left, top, right, bottom] as const] : [],
  );
}

/** Words beside each other become one mark, as a pen would draw it. */
export function joined(boxes: readonly Box[]): Box[] {
  const lines: Box[] = [];
  for (const box of boxes) {
    const last = lines.at(-1);
    if (last && isBeside(last, box)) lines[lines.length - 1] = around([last, box]);
    else lines.push(box);
  }
  return lines;
}

function isBeside(one: Box, other: Box): boolean {
  const height = Math.min(one[3] - one[1], other[3] - other[1]);
  const shared = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  const gap = other[0] - one[2];
  return shared > height * 0.5 && gap >= -height && gap < height * 0.8;
}

export function around(boxes: readonly Box[]): Box {
  return [
    Math.min(...boxes.map((box) => box[0])),
    Math.min(...boxes.map((box) => box[1])),
    Math.max(...boxes.map((box) => box[2])),
    Math.max(...boxes.map((box) => box[3])),
  ];
}

const WIDTHS = [400, 600, 800, 1000, 1300, 1600, 2000, 2500, 3000];

/** Which picture to ask for: sharp on this screen, in few sizes, so that the next look finds it drawn already. */
export function imageWidth(cssWidth: number, pixelRatio: number): number {
  const wanted = cssWidth * pixelRatio;
  return WIDTHS.find((width) => width >= wanted) ?? 3000;
}
