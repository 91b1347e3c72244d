import { piecesOf, type Span } from "@/lib/spans";

/** A text with passages marked. It is text whatever stands in it: nothing of it becomes part of the page. */
export function Marked({ text, spans, isCurrent }: { text: string; spans: readonly Span[]; isCurrent?: (span: number) => boolean }) {
  return piecesOf(text, spans).map((piece, index) =>
    piece.span === null ? (
      <span key={index}>{piece.text}</span>
    ) : (
      <mark key={index} data-current={isCurrent?.(piece.span) || undefined}>
        {piece.text}
      </mark>
    ),
  );
}
