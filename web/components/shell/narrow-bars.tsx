"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";

import { openPalette } from "@/features/palette/palette-state";
import { IconButton } from "@/components/ui/button";
import { Icon, type IconName } from "@/components/ui/icons";
import { Mark } from "@/components/ui/mark";
import { Menu, MenuLine, MenuLink, MenuNote } from "@/components/ui/menu";
import type { KnowledgeBase, Me } from "@/lib/api";
import { hrefOfKnowledgeBase } from "@/lib/hrefs";
import { common, shell } from "@/text";

import { PersonMenu } from "./person-menu";
import { placesOf } from "./places";

/** Below 768 px: mark, find, person. */
export function TopBar({ me }: { me: Me }) {
  return (
    <header className="topbar">
      <Link href="/" aria-label={shell.home} className="flex min-h-11 items-center gap-2.5 text-ink no-underline">
        <Mark size={24} />
        <span className="font-doc text-18 font-semibold">{common.product}</span>
      </Link>
      <span className="flex-1" />
      <IconButton label={shell.findOrDoLabel} icon="search" tooltip={false} onClick={openPalette} />
      <div>
        <PersonMenu me={me} hasWords={false} />
      </div>
    </header>
  );
}

const ITEM =
  "relative grid place-content-center place-items-center gap-[3px] text-11 font-medium text-ink-3 no-underline focus-visible:outline-offset-[-3px] " +
  "aria-[current=page]:font-semibold aria-[current=page]:text-petrol-2 " +
  "aria-[current=page]:before:absolute aria-[current=page]:before:inset-x-[22%] aria-[current=page]:before:-top-px aria-[current=page]:before:h-[3px] aria-[current=page]:before:rounded-b-[3px] aria-[current=page]:before:bg-petrol";

/** Below 768 px: the places one goes to every day; the others behind More. */
export function BottomBar({ me, knowledgeBases }: { me: Me; knowledgeBases: readonly KnowledgeBase[] }) {
  const path = usePathname();
  const { everyday, administration } = placesOf(me, knowledgeBases);
  const [search, archive, ...rest] = everyday;
  return (
    <nav className="botbar" aria-label={shell.main}>
      <BarLink href="/" label={shell.documents} icon="folder" isCurrent={path === "/" || path === "/kb" || path === "/document"} />
      {[search, archive].map((place) => place && <BarLink key={place.href} {...place} isCurrent={path === place.href} />)}
      <Menu
        side="top"
        trigger={
          <button type="button" className={ITEM}>
            <Icon name="menu" size={20} />
            {shell.more}
          </button>
        }
      >
        {[...rest, ...administration, { href: "/account", label: shell.account, icon: "person" as const }].map((place) => (
          <MenuLink key={place.href} href={place.href} icon={place.icon}>
            {place.label}
          </MenuLink>
        ))}
        {knowledgeBases.length > 0 && <MenuLine />}
        {knowledgeBases.length > 0 && <MenuNote>{shell.knowledgeBases}</MenuNote>}
        {knowledgeBases.map((kb) => (
          <MenuLink key={kb.id} href={hrefOfKnowledgeBase(kb.id)} icon="folder">
            <bdi>{kb.name}</bdi>
          </MenuLink>
        ))}
      </Menu>
    </nav>
  );
}

function BarLink({ href, label, icon, isCurrent }: { href: string; label: string; icon: IconName; isCurrent: boolean }) {
  return (
    <Link href={href} className={ITEM} aria-current={isCurrent ? "page" : undefined}>
      <Icon name={icon} size={20} />
      {label}
    </Link>
  );
}
