"use client";

import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Size } from "@/components/ui/size";
import { withName } from "@/components/ui/with-name";
import { replaceDocumentBy } from "@/features/upload/uploads";
import type { Document } from "@/lib/api";
import { documents } from "@/text";

const t = documents.replace;

/** From the row's menu, with the new file chosen. What goes on is shown where all that comes in is. */
export function ReplaceDialog({ document, file, onClose }: { document: Document; file: File; onClose: () => void }) {
  const replace = async () => replaceDocumentBy(document.kb_id, document.id, file);
  return (
    <ConfirmDialog isOpen onClose={onClose} question={t.question} action={t.action} onConfirm={replace} isDestructive>
      <dl className="mb-3 grid grid-cols-[auto_minmax(0,1fr)_auto] gap-x-4 gap-y-1.5 text-13 text-ink">
        <Line label={t.already} name={document.name} bytes={document.file_size} />
        <Line label={t.yours} name={file.name} bytes={file.size} />
      </dl>
      <p>{t.stays}</p>
    </ConfirmDialog>
  );
}

function Line({ label, name, bytes }: { label: string; name: string; bytes: number }) {
  return (
    <>
      <dt className="text-ink-3">{label}</dt>
      <dd className="[overflow-wrap:anywhere]">{withName("{name}", name)}</dd>
      <dd>
        <Size bytes={bytes} />
      </dd>
    </>
  );
}
