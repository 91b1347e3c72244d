"use client";

import dynamic from "next/dynamic";
import { useState } from "react";

import { mayManage } from "@/features/session/rights";
import { IconButton } from "@/components/ui/button";
import { Menu, MenuItem, MenuLine, MenuLink } from "@/components/ui/menu";
import type { KnowledgeBase } from "@/lib/api";
import { hrefOfKnowledgeBase } from "@/lib/hrefs";
import { knowledgeBases as t } from "@/text";

const MembersDialog = dynamic(() => import("./members-dialog").then((module) => module.MembersDialog), { ssr: false });
const SettingsDialog = dynamic(() => import("./settings-dialog").then((module) => module.SettingsDialog), { ssr: false });
const RemoveDialog = dynamic(() => import("./remove-dialog").then((module) => module.RemoveDialog), { ssr: false });

export type KnowledgeBaseDialog = "members" | "settings" | "remove";

/** The menu of a knowledge base, in its row and on its own page: what the person's standing allows. */
export function KnowledgeBaseActions({ kb, isOnItsPage = false, onRemoved }: { kb: KnowledgeBase; isOnItsPage?: boolean; onRemoved?: () => void }) {
  const [open, setOpen] = useState<KnowledgeBaseDialog | null>(null);
  const isManager = mayManage(kb.role);
  return (
    <>
      <Menu trigger={<IconButton label={t.actionsFor(kb.name)} icon="more" tooltip={false} kind={isOnItsPage ? "plain" : "bare"} />}>
        {!isOnItsPage && (
          <MenuLink href={hrefOfKnowledgeBase(kb.id)} icon="open">
            {t.open}
          </MenuLink>
        )}
        <MenuItem icon="people" onSelect={() => setOpen("members")}>
          {isManager ? t.members : t.viewMembers}
        </MenuItem>
        {isManager && (
          <>
            <MenuItem icon="edit" onSelect={() => setOpen("settings")}>
              {t.settings}
            </MenuItem>
            <MenuLine />
            <MenuItem icon="trash" isWax onSelect={() => setOpen("remove")}>
              {t.remove}
            </MenuItem>
          </>
        )}
      </Menu>
      <KnowledgeBaseDialogs kb={kb} open={open} onClose={() => setOpen(null)} {...(onRemoved ? { onRemoved } : {})} />
    </>
  );
}

/** The dialogs by themselves, for a page that opens them by buttons of its own. Loaded when first opened. */
export function KnowledgeBaseDialogs({
  kb,
  open,
  onClose,
  onRemoved,
}: {
  kb: KnowledgeBase;
  open: KnowledgeBaseDialog | null;
  onClose: () => void;
  onRemoved?: () => void;
}) {
  if (open === "members") return <MembersDialog kb={kb} onClose={onClose} />;
  if (open === "settings") return <SettingsDialog kb={kb} onClose={onClose} />;
  if (open === "remove") return <RemoveDialog kb={kb} onClose={onClose} {...(onRemoved ? { onRemoved } : {})} />;
  return null;
}
