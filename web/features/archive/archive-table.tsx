"use client";

import { Checkbox } from "@/components/ui/checkbox";
import { SortHead } from "@/components/ui/sort-head";
import { VisuallyHidden } from "@/components/ui/visually-hidden";
import type { ArchivedDocument } from "@/lib/api";
import { archive as t } from "@/text";

import { ArchiveRow, type RowActs } from "./archive-row";
import type { ArchiveSort } from "./archive-view";
import type { Selection } from "./use-selection";

export function ArchiveTable({
  documents,
  sort,
  onSort,
  selection,
  acts,
  touched,
}: {
  documents: readonly ArchivedDocument[];
  sort: ArchiveSort;
  onSort: (sort: ArchiveSort) => void;
  selection: Selection;
  acts: RowActs;
  /** The one that a purge is being confirmed of. */
  touched: string | undefined;
}) {
  const chosen = documents.filter(selection.has).length;
  const head = { sort, onSort };
  return (
    <table className="register">
      <colgroup>
        <col className="w-[54px]" />
        <col />
        <col className="w-[20%]" data-from="lg" />
        <col className="w-[116px]" />
        <col className="w-[116px]" data-from="lg" />
        <col className="w-[92px]" />
        <col className="w-[164px]" />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">
            <Checkbox
              aria-label={t.selectAll}
              checked={documents.length > 0 && chosen === documents.length}
              isMixed={chosen > 0 && chosen < documents.length}
              onChange={(event) => selection.change(documents, event.target.checked)}
            />
          </th>
          <SortHead {...head} field="name">
            {t.columns.name}
          </SortHead>
          <th scope="col" data-from="lg">
            {t.columns.kb}
          </th>
          <SortHead {...head} field="archived_at" isDownFirst>
            {t.columns.archived}
          </SortHead>
          <SortHead {...head} field="completed_at" isDownFirst data-from="lg">
            {t.columns.completed}
          </SortHead>
          <SortHead {...head} field="file_size" isDownFirst data-align="end">
            {t.columns.size}
          </SortHead>
          <th scope="col">
            <VisuallyHidden>{t.columns.actions}</VisuallyHidden>
          </th>
        </tr>
      </thead>
      <tbody>
        {documents.map((document) => (
          <ArchiveRow
            key={document.id}
            document={document}
            isSelected={selection.has(document)}
            onToggle={selection.toggle}
            acts={acts}
            isTouched={document.id === touched}
          />
        ))}
      </tbody>
    </table>
  );
}
