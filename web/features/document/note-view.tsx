"use client";

import { useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { sentencesOf } from "@/components/ui/error-sentences";
import { TextArea } from "@/components/ui/field";
import { Time } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import type { DocumentPlace } from "@/lib/api";
import { common, document as text } from "@/text";

import type { Note, NotePlace } from "./notes";
import { useWriteNote } from "./use-notes";

const t = text.notes;

/** A note where it was written. Whoever may write, may change it. */
export function NoteView({ place, note, mayWrite, hasPin = false }: { place: DocumentPlace; note: Note; mayWrite: boolean; hasPin?: boolean }) {
  const [isEditing, setEditing] = useState(false);
  const write = useWriteNote(place);
  const save = (words: string) => write.mutateAsync({ at: note.place, annotations: note.annotations, text: words });
  const remove = async () => {
    const words = note.text;
    await save("");
    showToast({ text: t.removed, icon: "note", ...(words ? { action: { label: t.undo, onSelect: () => void save(words) } } : {}) });
  };
  if (isEditing) return <NoteEditor place={place} at={note.place} annotations={note.annotations} onClose={() => setEditing(false)} />;
  return (
    <div data-note={note.number} className="mb-2 rounded-control border border-petrol-line bg-petrol-soft px-3 py-2 text-13">
      <div className="flex items-start gap-2">
        {hasPin && (
          <span className="pin" data-stale={note.isStale || undefined}>
            {note.number}
          </span>
        )}
        <p className="min-w-0 flex-1 whitespace-pre-line [overflow-wrap:anywhere]">{note.text ?? <span className="text-ink-2">{t.unwritten}</span>}</p>
      </div>
      {note.text === null && (
        <pre className="mt-1 overflow-x-auto font-proof text-12 whitespace-pre-wrap text-ink-2">{JSON.stringify(note.annotations, null, 1)}</pre>
      )}
      <div className="mt-1 flex flex-wrap items-center gap-x-3 text-12 text-ink-3">
        {note.by && <span className="[overflow-wrap:anywhere]">{t.by(note.by)}</span>}
        {note.at && <Time at={note.at} />}
        {mayWrite && note.text !== null && (
          <span className="ml-auto flex gap-1">
            <Button size="small" kind="bare" onClick={() => setEditing(true)}>
              {t.edit}
            </Button>
            <Button size="small" kind="bare" isBusy={write.isPending} onClick={() => void remove()}>
              {t.remove}
            </Button>
          </span>
        )}
      </div>
      {write.isError && <Banner tone="failed" className="mt-2" {...sentencesOf(write.error)} />}
    </div>
  );
}

/** Writes a note at a place. What a program wrote there stays. */
export function NoteEditor({
  place,
  at,
  annotations,
  onClose,
}: {
  place: DocumentPlace;
  at: NotePlace;
  annotations: Record<string, unknown> | null;
  onClose: () => void;
}) {
  const before = typeof annotations?.note === "string" ? annotations.note : "";
  const [words, setWords] = useState(before);
  const write = useWriteNote(place);
  const save = () => write.mutate({ at, annotations, text: words }, { onSuccess: onClose });
  return (
    <form
      className="mb-3 rounded-control border border-line-2 bg-sunk p-3"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
      }}
    >
      {/* The person asked for this field by pressing a button; the focus belongs there. */}
      <TextArea label={t.label} placeholder={t.placeholder} value={words} maxLength={4_000} autoFocus onChange={(event) => setWords(event.target.value)} />
      {write.isError && <Banner tone="failed" className="mt-2" {...sentencesOf(write.error)} />}
      <div className="mt-2 flex justify-end gap-2">
        <Button size="small" onClick={onClose}>
          {common.cancel}
        </Button>
        <Button size="small" kind="primary" type="submit" isBusy={write.isPending} disabled={!words.trim() && !before}>
          {t.save}
        </Button>
      </div>
    </form>
  );
}
