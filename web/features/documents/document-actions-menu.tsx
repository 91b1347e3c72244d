"use client";

import { useRouter } from "next/navigation";
import { Fragment, useId } from "react";

import type { IconName } from "@/components/ui/icons";
import { Menu, MenuItem, MenuLine, MenuLink, MenuNote, type MenuProps } from "@/components/ui/menu";
import { downloadUrl, type Document } from "@/lib/api";
import { hrefOfDocument } from "@/lib/hrefs";
import { documents } from "@/text";

import { planOf, type Offer, type RowAct } from "./menu-plan";
import { useCanRevert, useStanding } from "./use-standing";

const t = documents.menu;
const LOOKS: Readonly<Record<RowAct, { icon: IconName; shortcut?: string }>> = {
  open: { icon: "document", shortcut: "↵" },
  download: { icon: "download", shortcut: "D" },
  explain: { icon: "ask", shortcut: "E" },
  retry: { icon: "retry" },
  cancel: { icon: "stop" },
  bringBack: { icon: "undo" },
  failedReplacement: { icon: "alert" },
  replace: { icon: "replace" },
  archive: { icon: "box", shortcut: "A" },
  clear: { icon: "trash" },
};

interface Offered {
  document: Document;
  mayManage: boolean;
  mayEdit: boolean;
  onAct: (act: RowAct) => void;
  /** What makes no sense where the menu stands: opening a document that is open. */
  without?: readonly RowAct[];
}

export type DocumentActionsMenuProps = Offered & Pick<MenuProps, "trigger" | "isOpen" | "onOpenChange">;

/** All that can be done with one document. While it is being read, what changes it stays in sight, off, with the reason. */
export function DocumentActionsMenu({ trigger, isOpen, onOpenChange, ...offered }: DocumentActionsMenuProps) {
  return (
    <Menu trigger={trigger} {...(isOpen === undefined ? {} : { isOpen })} {...(onOpenChange ? { onOpenChange } : {})}>
      <Offers {...offered} />
    </Menu>
  );
}

/** Looks at the document only while the menu is open. */
function Offers({ document, mayManage, mayEdit, onAct, without = [] }: Offered) {
  const { status } = useStanding(document);
  const canRevert = useCanRevert(document, mayManage);
  const hasFailedReplacement = document.failed_replacement !== null;
  const reason = useId();
  const groups = planOf(status, { mayManage, mayEdit, canRevert, hasFailedReplacement }).map((offers) => offers.filter(({ act }) => !without.includes(act)));
  return groups.map((offers, index) => (
    <Fragment key={offers[0]?.act}>
      {index > 0 && <MenuLine />}
      {offers.some(({ isOff }) => isOff) && (
        <MenuNote id={reason} icon="lock">
          {t.whileProcessing}
        </MenuNote>
      )}
      {offers.map((offer) => (
        <Item key={offer.act} offer={offer} document={document} reason={reason} onAct={onAct} />
      ))}
    </Fragment>
  ));
}

function Item({ offer: { act, isOff }, document, reason, onAct }: { offer: Offer; document: Document; reason: string; onAct: (act: RowAct) => void }) {
  const place = { kbId: document.kb_id, documentId: document.id };
  const look = LOOKS[act];
  if (act === "open") {
    return (
      <MenuLink href={hrefOfDocument(place)} {...look}>
        {t.open}
      </MenuLink>
    );
  }
  if (act === "download") {
    return (
      <MenuLink href={downloadUrl(place)} isPlain {...look}>
        {t.download}
      </MenuLink>
    );
  }
  return (
    <MenuItem {...look} isOff={isOff} isWax={act === "clear"} describedBy={isOff ? reason : undefined} onSelect={() => onAct(act)}>
      {t[act]}
    </MenuItem>
  );
}

/** For the keys: opens the document's page, or has its file saved. */
export function useGoTo(): { open: (document: Document) => void; download: (document: Document) => void } {
  const router = useRouter();
  const placeOf = (document: Document) => ({ kbId: document.kb_id, documentId: document.id });
  return {
    open: (document) => router.push(hrefOfDocument(placeOf(document))),
    // An attachment: the page stays where it is.
    download: (document) => window.location.assign(downloadUrl(placeOf(document))),
  };
}
