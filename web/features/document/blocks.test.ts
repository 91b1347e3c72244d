import { expect, it } from "vitest";

import type { Diagram, Paragraph } from "@/lib/api";

import { blocksOf, cellsOf } from "./blocks";

const paragraph = (index: number, box: Paragraph["box"], text = `p${index}`, kind: Paragraph["kind"] = "text") =>
  ({ page_number: 1, paragraph_index: index, box, text, kind, start: 0, end: 2 }) as Paragraph;
const diagram = (key: string, box: Diagram["box"], caption: string | null = null) => ({ page_number: 1, key, box, caption }) as Diagram;

const shown = (blocks: ReturnType<typeof blocksOf>) =>
  blocks.map((block) => `${block.number} ${block.kind === "figure" ? block.diagram.key : block.paragraph.text}`);

it("a figure stands between what is above and what is below it", () => {
  const above = paragraph(0, [50, 50, 500, 100]);
  const below = paragraph(1, [50, 400, 500, 450]);
  expect(shown(blocksOf([above, below], [diagram("d", [60, 120, 400, 380])]))).toEqual(["1 p0", "2 d", "3 p1"]);
});

it("a figure in the second column does not stand before the first", () => {
  const first = paragraph(0, [50, 500, 250, 550]);
  const second = paragraph(1, [300, 500, 500, 550]);
  expect(shown(blocksOf([first, second], [diagram("d", [300, 100, 500, 400])]))).toEqual(["1 p0", "2 d", "3 p1"]);
});

it("a figure says its own caption, and stands at the end where nobody knows its place", () => {
  const caption = paragraph(1, null, "Figure 3. Response times", "caption");
  expect(shown(blocksOf([paragraph(0, null), caption], [diagram("d", null, "Figure 3. Response times"), diagram("e", null)]))).toEqual(["1 p0", "2 d", "3 e"]);
});

it("cells of a table know where they stand in its text", () => {
  expect(cellsOf("a\t📄b\nc\td")).toEqual([
    [
      { text: "a", start: 0 },
      { text: "📄b", start: 2 },
    ],
    [
      { text: "c", start: 5 },
      { text: "d", start: 7 },
    ],
  ]);
});
