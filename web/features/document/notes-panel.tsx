"use client";

import { Empty } from "@/components/ui/empty";
import { Failure } from "@/components/ui/failure";
import { formatCount } from "@/lib/format";
import { document as text } from "@/text";

import { NoteView } from "./note-view";
import type { NotePlace } from "./notes";
import type { useNotes } from "./use-notes";
import type { Viewer } from "./use-viewer";

const t = text.notes;

/** All notes of the document; each leads to its page. */
export function NotesPanel({ viewer, notes, mayWrite }: { viewer: Viewer; notes: ReturnType<typeof useNotes>; mayWrite: boolean }) {
  if (notes.error && !notes.data) return <Failure error={notes.error} onRetry={() => void notes.refetch()} />;
  if (!notes.data)
    return (
      <p role="status" className="late text-13 text-ink-3">
        {t.many(viewer.pages)}
      </p>
    );
  if (notes.data.length === 0) return <Empty icon="note" title={t.empty} text={mayWrite ? t.emptyEditor : t.emptyViewer} />;
  return (
    <ol className="flex flex-col gap-2">
      {notes.data.map((note) => (
        <li key={note.number}>
          <p className="mb-1 flex items-baseline gap-2 text-12 text-ink-3">
            {note.isStale ? (
              <span title={t.staleHint} className="font-medium text-st-warn">
                {t.stale}
              </span>
            ) : (
              <button
                type="button"
                className="min-h-6 text-petrol underline decoration-petrol-line underline-offset-[3px] hover:decoration-current"
                onClick={() => viewer.goTo(note.place.page)}
              >
                {whereOf(note.place)}
              </button>
            )}
          </p>
          <NoteView place={viewer.place} note={note} mayWrite={mayWrite} hasPin />
        </li>
      ))}
    </ol>
  );
}

function whereOf(place: NotePlace): string {
  const page = formatCount(place.page);
  if (place.kind === "paragraph") return t.onParagraph(page, place.index + 1);
  return place.kind === "diagram" ? t.onDiagram(page) : t.onPage(page);
}
