"use client";

import Link from "next/link";
import { memo, useEffect } from "react";

import { Avatar } from "@/components/ui/avatar";
import { Checkbox } from "@/components/ui/checkbox";
import { Icon } from "@/components/ui/icons";
import { Name } from "@/components/ui/name";
import { Size } from "@/components/ui/size";
import { Time } from "@/components/ui/time";
import type { Document } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { hrefOfDocument } from "@/lib/hrefs";
import { common, documents as t } from "@/text";

import { DocumentActionsMenu } from "./document-actions-menu";
import type { RowActions } from "./row-actions";
import { StatusCell } from "./status-cell";

export interface DocumentRowProps {
  document: Document;
  isSelected: boolean;
  isGhost: boolean;
  isMenuOpen: boolean;
  mayManage: boolean;
  mayEdit: boolean;
  actions: RowActions;
}

/** One document. The roles are written out, because a narrow screen lays the row out as a grid, which drops them. */
export const DocumentRow = memo(function DocumentRow(props: DocumentRowProps) {
  const { document, isSelected, isGhost, mayManage, actions } = props;
  const { id, name } = document;
  const place = { kbId: document.kb_id, documentId: id };
  return (
    <tr
      role="row"
      data-id={id}
      aria-selected={mayManage ? isSelected : undefined}
      data-tone={isGhost ? "ghost" : document.status === "failed" ? "failed" : undefined}
    >
      {mayManage && (
        <td role="cell" data-cell="select">
          <Checkbox
            aria-label={t.select(name)}
            checked={isSelected}
            disabled={isGhost}
            onChange={(event) => actions.toggle(id, "shiftKey" in event.nativeEvent && event.nativeEvent.shiftKey === true)}
          />
        </td>
      )}
      <td role="cell" data-cell="name">
        <Link href={hrefOfDocument(place)} prefetch={false}>
          <Name name={name} />
        </Link>
      </td>
      <td role="cell" data-from="lg">
        {common.documentTypes[document.document_type]}
      </td>
      <td role="cell" data-cell="status">
        <StatusCell
          document={document}
          isGhost={isGhost}
          mayManage={mayManage}
          onUndo={() => actions.undo(document)}
          onBringBack={() => actions.run("bringBack", document)}
          onFailedReplacement={() => actions.run("failedReplacement", document)}
        />
      </td>
      <td role="cell" data-from="lg" data-align="end">
        {document.total_pages === null ? <span className="text-ink-3">{common.none}</span> : formatCount(document.total_pages)}
      </td>
      <td role="cell" data-cell="fact" data-align="end">
        <Size bytes={document.file_size} />
      </td>
      <td role="cell" data-cell="fact-2">
        <Time at={document.created_at} />
      </td>
      <td role="cell" data-from="lg">
        <Uploader email={document.uploaded_by_email ?? null} />
      </td>
      <td role="cell" data-cell="menu">
        <RowMenu {...props} />
      </td>
    </tr>
  );
});

function Uploader({ email }: { email: string | null }) {
  if (email === null) return <span className="text-ink-3">{common.none}</span>;
  return (
    <span className="flex min-w-0 items-center gap-2" title={email}>
      <Avatar email={email} size={22} />
      <bdi className="truncate max-xl:sr-only">{email}</bdi>
    </span>
  );
}

function RowMenu({ document, isGhost, isMenuOpen, mayManage, mayEdit, actions }: DocumentRowProps) {
  const { id } = document;
  useEffect(() => () => actions.closeMenu(id), [actions, id]);
  return (
    <DocumentActionsMenu
      document={isGhost ? { ...document, status: "archived" } : document}
      mayManage={mayManage}
      mayEdit={mayEdit}
      isOpen={isMenuOpen}
      onOpenChange={(isOpen) => actions.setMenu(isOpen ? document.id : null)}
      onAct={(act) => actions.run(act, document)}
      trigger={
        <button
          type="button"
          aria-label={t.actionsFor(document.name)}
          className="inline-grid size-7 place-items-center rounded-control border border-transparent hover:bg-sunk data-[state=open]:border-line-2 data-[state=open]:bg-raised coarse:size-11"
        >
          <Icon name="more" />
        </button>
      }
    />
  );
}
