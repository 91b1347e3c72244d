"use client";

import { Checkbox } from "@/components/ui/checkbox";
import { SortHead } from "@/components/ui/sort-head";
import type { Document } from "@/lib/api";
import { documents as t } from "@/text";

import { DocumentRow } from "./document-row";
import type { Sort } from "./documents-view";
import type { RowActions } from "./row-actions";
import type { Selection } from "./use-selection";

export interface DocumentsTableProps {
  kbName: string;
  rows: readonly Document[];
  ghosts: ReadonlyMap<string, Document>;
  selection: Selection;
  sort: Sort;
  onSort: (sort: Sort) => void;
  menuId: string | null;
  mayManage: boolean;
  mayEdit: boolean;
  actions: RowActions;
}

export function DocumentsTable({ kbName, rows, ghosts, selection, sort, onSort, menuId, mayManage, mayEdit, actions }: DocumentsTableProps) {
  const { columns } = t;
  const selectable = rows.filter(({ id }) => !ghosts.has(id)).length;
  const areAll = selectable > 0 && selection.ids.size === selectable;
  const sorted = { sort, onSort };
  return (
    <table role="table" className="register" aria-label={t.tableLabel(kbName)}>
      <colgroup>
        {mayManage && <col className="w-[52px]" />}
        <col />
        <col data-from="lg" className="w-24" />
        <col className="w-[208px] max-lg:w-[176px]" />
        <col data-from="lg" className="w-[62px]" />
        <col className="w-20" />
        <col className="w-24" />
        <col data-from="lg" className="w-14 xl:w-[190px]" />
        <col className="w-14" />
      </colgroup>
      <thead role="rowgroup">
        <tr role="row">
          {mayManage && (
            <th role="columnheader" scope="col">
              <Checkbox
                aria-label={t.selectAll}
                checked={areAll}
                isMixed={selection.ids.size > 0 && !areAll}
                onChange={(event) => selection.selectAll(event.target.checked)}
              />
            </th>
          )}
          <SortHead field="name" {...sorted}>
            {columns.name}
          </SortHead>
          <SortHead field="document_type" data-from="lg" {...sorted}>
            {columns.type}
          </SortHead>
          <SortHead field="status" {...sorted}>
            {columns.status}
          </SortHead>
          <th role="columnheader" scope="col" data-from="lg" data-align="end">
            {columns.pages}
          </th>
          <SortHead field="file_size" isDownFirst data-align="end" {...sorted}>
            {columns.size}
          </SortHead>
          <SortHead field="created_at" isDownFirst {...sorted}>
            {columns.added}
          </SortHead>
          <th role="columnheader" scope="col" data-from="lg">
            {columns.by}
          </th>
          <th role="columnheader" scope="col">
            <span className="sr-only">{columns.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((document) => (
          <DocumentRow
            key={document.id}
            document={document}
            isSelected={selection.ids.has(document.id)}
            isGhost={ghosts.has(document.id)}
            isMenuOpen={menuId === document.id}
            mayManage={mayManage}
            mayEdit={mayEdit}
            actions={actions}
          />
        ))}
      </tbody>
    </table>
  );
}
