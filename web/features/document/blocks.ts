/** The text of a page as it is read: paragraphs, with the figures where they stand among them. */
import type { Diagram, Paragraph } from "@/lib/api";

import type { NotePlace } from "./notes";

export type Block =
  | { kind: "paragraph"; number: number; place: NotePlace; paragraph: Paragraph }
  | { kind: "figure"; number: number; place: NotePlace; diagram: Diagram; caption: Paragraph | null };

export function blocksOf(paragraphs: readonly Paragraph[], diagrams: readonly Diagram[]): Block[] {
  const waiting = new Set(diagrams);
  const blocks: Block[] = [];
  const add = (block: Block) => blocks.push({ ...block, number: blocks.length + 1 });
  for (const paragraph of paragraphs) {
    const above = [...waiting].filter((diagram) => standsBefore(diagram, paragraph));
    for (const diagram of above) {
      waiting.delete(diagram);
      add(figure(diagram, paragraph));
    }
    // A figure says its own caption; it stands twice only where somebody wrote a note on it.
    const isSaid = blocks.at(-1)?.kind === "figure" && above.some((diagram) => isCaptionOf(paragraph, diagram));
    if (!isSaid || paragraph.annotations)
      add({ kind: "paragraph", number: 0, paragraph, place: { kind: "paragraph", page: paragraph.page_number, index: paragraph.paragraph_index } });
  }
  for (const diagram of waiting) add(figure(diagram, null));
  return blocks;
}

const figure = (diagram: Diagram, below: Paragraph | null): Block => ({
  kind: "figure",
  number: 0,
  diagram,
  place: { kind: "diagram", page: diagram.page_number, key: diagram.key },
  caption: below && isCaptionOf(below, diagram) ? below : null,
});

const isCaptionOf = (paragraph: Paragraph, { caption }: Diagram): boolean => caption !== null && paragraph.text.trim() === caption.trim();

/** A figure stands above its own caption, or else above what begins below it in the same column. */
function standsBefore(diagram: Diagram, paragraph: Paragraph): boolean {
  if (isCaptionOf(paragraph, diagram)) return true;
  const { box } = diagram;
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
