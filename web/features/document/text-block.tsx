"use client";

import type { ReactNode } from "react";

import { Marked } from "@/components/ui/marked";
import { diagramImageUrl, type Diagram, type Paragraph } from "@/lib/api";
import { overlaps, spansWithin, type Span } from "@/lib/spans";
import { document as t } from "@/text";

import { cellsOf, type Block } from "./blocks";
import { NoteEditor, NoteView } from "./note-view";
import { keyOf, type Note } from "./notes";
import type { Viewer } from "./use-viewer";

interface Props {
  block: Block;
  viewer: Viewer;
  /** Of all matches, in the text of the page. */
  spans: readonly Span[];
  passage: Span | null;
  note: Note | undefined;
  isWriting: boolean;
  /** Null for who may only read. */
  onWrite: ((isOn: boolean) => void) | null;
  hasPicture: boolean;
}

/** A paragraph or a figure, with its number, its marks and its note. */
export function TextBlock({ block, viewer, spans, passage, note, isWriting, onWrite, hasPicture }: Props) {
  const isHovered = viewer.hovered !== null && keyOf(viewer.hovered) === keyOf(block.place);
  const words = block.kind === "paragraph" ? block.paragraph : block.caption;
  const isPassage = words !== null && passage !== null && overlaps([words.start, words.end], passage);
  const current = viewer.match?.page === block.place.page ? viewer.match.span : null;
  const annotations = block.kind === "paragraph" ? block.paragraph.annotations : block.diagram.annotations;
  return (
    <>
      <div
        className="prose-part"
        data-kind={block.kind === "figure" ? "figure" : block.paragraph.kind}
        data-on={isHovered ? "hover" : isPassage ? "passage" : undefined}
        data-passage={isPassage || undefined}
        onPointerEnter={() => viewer.setHovered(block.place)}
        onPointerLeave={() => viewer.setHovered(null)}
      >
        <PartNumber block={block} onWrite={onWrite && !note ? () => onWrite(!isWriting) : null} />
        {block.kind === "figure" ? (
          <Figure diagram={block.diagram} viewer={viewer} hasPicture={hasPicture}>
            {block.caption ? <ParagraphText paragraph={block.caption} spans={spans} current={current} /> : (block.diagram.caption ?? t.text.figure)}
          </Figure>
        ) : (
          <ParagraphText paragraph={block.paragraph} spans={spans} current={current} />
        )}
        {note && <span className="pin ml-1.5 align-[1px]">{note.number}</span>}
      </div>
      {isWriting && <NoteEditor place={viewer.place} at={block.place} annotations={annotations} onClose={() => onWrite?.(false)} />}
      {note && !isWriting && <NoteView place={viewer.place} note={note} mayWrite={onWrite !== null} />}
    </>
  );
}

function PartNumber({ block, onWrite }: { block: Block; onWrite: (() => void) | null }) {
  if (!onWrite) {
    return (
      <span aria-hidden="true" className="prose-number">
        {block.number}
      </span>
    );
  }
  const label = block.kind === "figure" ? t.text.noteOnFigure(block.number) : t.text.noteOn(block.number);
  return (
    <button type="button" className="prose-number" aria-label={label} title={label} onClick={onWrite}>
      {block.number}
    </button>
  );
}

function ParagraphText({ paragraph, spans, current }: { paragraph: Paragraph; spans: readonly Span[]; current: Span | null }) {
  const within = spansWithin(spans, [paragraph.start, paragraph.end]);
  const isCurrent = (index: number) => current !== null && spans[index] === current;
  if (paragraph.kind === "table") return <Table text={paragraph.text} spans={within} isCurrent={isCurrent} />;
  const text = <Marked text={paragraph.text} spans={within} isCurrent={isCurrent} />;
  return paragraph.kind === "heading" ? <h3 className="inline">{text}</h3> : <p className="inline whitespace-pre-line">{text}</p>;
}

function Table({ text, spans, isCurrent }: { text: string; spans: readonly Span[]; isCurrent: (index: number) => boolean }) {
  return (
    <div className="overflow-x-auto">
      <table>
        <tbody>
          {cellsOf(text).map((row, at) => (
            <tr key={at}>
              {row.map((cell) => (
                <td key={cell.start}>
                  <Marked text={cell.text} spans={spansWithin(spans, [cell.start, cell.start + [...cell.text].length])} isCurrent={isCurrent} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Figure({ diagram, viewer, hasPicture, children }: { diagram: Diagram; viewer: Viewer; hasPicture: boolean; children: ReactNode }) {
  return (
    <>
      {hasPicture && (
        <img
          src={diagramImageUrl(viewer.place, diagram.key)}
          alt={diagram.caption ?? t.text.figure}
          loading="lazy"
          className="mb-2 block max-h-[320px] max-w-full rounded-mark bg-paper object-contain dark:brightness-90"
        />
      )}
      <div className="inline">{children}</div>
    </>
  );
}
