"use client";

import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import type { Document } from "@/lib/api";
import { formatCount, plural } from "@/lib/format";
import { documents } from "@/text";

const t = documents.archiveSeveral;
const NAMED = 5;

/** Says how many go, names the first of them, and what is left out. */
export function ArchiveSeveralDialog({ chosen, onClose, onConfirm }: { chosen: readonly Document[]; onClose: () => void; onConfirm: () => Promise<void> }) {
  const completed = chosen.filter(({ status }) => status === "completed");
  const others = chosen.length - completed.length;
  const counted = plural(completed.length, documents.one, documents.many);
  const question = completed.length === 0 ? t.none : completed.length === 1 ? t.questionOne : t.question(counted);
  return (
    <ConfirmDialog isOpen onClose={onClose} question={question} action={documents.archive.action} onConfirm={onConfirm} isImpossible={completed.length === 0}>
      <ul className="grid gap-1">
        {completed.slice(0, NAMED).map((document) => (
          <li key={document.id} className="[overflow-wrap:anywhere]">
            <bdi>{document.name}</bdi>
          </li>
        ))}
        {completed.length > NAMED && <li>{t.andMore(formatCount(completed.length - NAMED))}</li>}
      </ul>
      {others > 0 && <p className="mt-3">{t.others(others === 1 ? t.otherOne : t.otherMany(formatCount(others)))}</p>}
    </ConfirmDialog>
  );
}
