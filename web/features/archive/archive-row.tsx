"use client";

import Link from "next/link";
import { memo } from "react";

import { Button, IconButton } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Menu, MenuItem, MenuLine, MenuLink } from "@/components/ui/menu";
import { Name } from "@/components/ui/name";
import { Size } from "@/components/ui/size";
import { Time } from "@/components/ui/time";
import { downloadUrl, type ArchivedDocument } from "@/lib/api";
import { hrefOfDocument } from "@/lib/hrefs";
import { archive as t, common } from "@/text";

import { placeOf } from "./use-archive";

export interface RowActs {
  restore: (document: ArchivedDocument) => void;
  purge: (document: ArchivedDocument) => void;
}

interface Props {
  document: ArchivedDocument;
  isSelected: boolean;
  onToggle: (document: ArchivedDocument) => void;
  acts: RowActs;
  isTouched: boolean;
}

/** Restore is the one obvious act and has a button of its own; all others stand in the menu. */
export const ArchiveRow = memo(function ArchiveRow({ document, isSelected, onToggle, acts, isTouched }: Props) {
  return (
    <tr role="row" data-id={document.id} aria-selected={isSelected} data-tone={isTouched ? "failed" : undefined}>
      <td role="cell" data-cell="select">
        <Checkbox aria-label={t.select(document.name)} checked={isSelected} onChange={() => onToggle(document)} />
      </td>
      <td role="cell" data-cell="name">
        <Link href={hrefOfDocument(placeOf(document))} data-row-link>
          <Name name={document.name} />
        </Link>
      </td>
      <td role="cell" data-cell="status" data-from="lg">
        <bdi className="max-md:text-12 max-md:text-ink-3" title={document.kb_name}>
          {document.kb_name}
        </bdi>
      </td>
      <td role="cell" data-cell="fact-2">
        <Time at={document.archived_at} />
      </td>
      <td role="cell" data-from="lg">
        {document.completed_at ? <Time at={document.completed_at} /> : common.none}
      </td>
      <td role="cell" data-cell="fact" data-align="end">
        <Size bytes={document.file_size} />
      </td>
      <td role="cell" data-cell="menu">
        <span className="inline-flex items-center gap-1.5">
          <Button size="small" icon="undo" aria-label={t.restore.actionFor(document.name)} onClick={() => acts.restore(document)} className="max-md:hidden">
            {t.restore.action}
          </Button>
          <RowMenu document={document} acts={acts} />
        </span>
      </td>
    </tr>
  );
});

function RowMenu({ document, acts }: { document: ArchivedDocument; acts: RowActs }) {
  const place = placeOf(document);
  return (
    <Menu trigger={<IconButton label={t.actionsFor(document.name)} icon="more" size="small" tooltip={false} data-row-menu />}>
      <MenuLink href={hrefOfDocument(place)} icon="document">
        {t.open}
      </MenuLink>
      <MenuLink href={downloadUrl(place)} icon="download" isPlain>
        {t.download}
      </MenuLink>
      <MenuLink href={`/audit?document=${document.id}`} icon="ledger">
        {t.audit}
      </MenuLink>
      <MenuLine />
      <MenuItem icon="undo" onSelect={() => acts.restore(document)}>
        {t.restoreMenu}
      </MenuItem>
      <MenuItem icon="trash" isWax onSelect={() => acts.purge(document)}>
        {t.purgeMenu}
      </MenuItem>
    </Menu>
  );
}
