/** The text of a page as it is read: paragraphs, with the figures where they stand among them. */
import type { Diagram, Paragraph } from "@/lib/api";

import type { NotePlace } from "./notes";

export type Block =
  | { kind: "paragraph"; number: number; place: NotePlace; paragraph: Paragraph }
  | { kind: "figure"; number: number; place: NotePlace; diagram: Diagram };

export function blocksOf(paragraphs: readonly Paragraph[], diagrams: readonly Diagram[]): Block[] {
  const waiting = new Set(diagrams);
  const blocks: Omit<Block, "number">[] = [];
  for (const paragraph of paragraphs) {
    for (const diagram of waiting) {
      if (!standsBefore(diagram, paragraph)) continue;
      waiting.delete(diagram);
      blocks.push(figure(diagram));
    }
    blocks.push({ kind: "paragraph", paragraph, place: { kind: "paragraph", page: paragraph.page_number, index: paragraph.paragraph_index } } as Block);
  }
  blocks.push(...[...waiting].map(figure));
  return blocks.map((block, index) => ({ ...block, number: index + 1 }) as Block);
}

const figure = (diagram: Diagram) =>
  ({ kind: "figure", diagram, place: { kind: "diagram", page: diagram.page_number, key: diagram.key } }) as Omit<Block, "number">;

/** A figure stands above its own caption, or else above what begins below it in the same column. */
function standsBefore({ box, caption }: Diagram, paragraph: Paragraph): boolean {
  if (caption && paragraph.kind === "caption" && paragraph.text.trim() === caption.trim()) return true;
  if (!box || !paragraph.box) return false;
  const [left, , right, bottom] = box;
  const isSameColumn = paragraph.box[0] < right && paragraph.box[2] > left;
  return isSameColumn && paragraph.box[1] >= bottom - 2;
}

export interface Cell {
  text: string;
  start: number;
}

/** A table came as lines of cells with tabs between: back to cells, each with its place in the paragraph. */
export function cellsOf(text: string): Cell[][] {
  let at = 0;
  return text.split("\n").map((line) => {
    const row = line.split("\t").map((cell) => {
      const start = at;
      at += [...cell].length + 1;
      return { text: cell, start };
    });
    return row;
  });
}
