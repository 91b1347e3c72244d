"use client";

import Link from "next/link";
import { usePathname, useSearchParams } from "next/navigation";

import { openPalette } from "@/features/palette/palette-state";
import { mayManage } from "@/features/session/rights";
import { UploadTray } from "@/features/upload/tray";
import { Icon } from "@/components/ui/icons";
import { Mark } from "@/components/ui/mark";
import type { KnowledgeBase, Me } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { ALL_KNOWLEDGE_BASES, hrefOfKnowledgeBase, NEW_KNOWLEDGE_BASE } from "@/lib/hrefs";
import { common, shell } from "@/text";

import { PersonMenu } from "./person-menu";
import { placesOf } from "./places";
import { SideTab } from "./side-tab";
import { ThemeSwitch } from "./theme-switch";

export function Sidebar({ me, knowledgeBases, isRail }: { me: Me; knowledgeBases: readonly KnowledgeBase[]; isRail: boolean }) {
  const path = usePathname();
  const { everyday, administration } = placesOf(me, knowledgeBases);
  return (
    <aside className="side" aria-label={shell.main}>
      <Link href="/" aria-label={shell.home} className="mb-1 flex h-9 shrink-0 items-center gap-2.5 pr-3.5 pl-1.5 text-ink no-underline">
        <Mark />
        <span className="wide-only font-doc text-[19px] leading-6 font-semibold">{common.product}</span>
      </Link>
      <FindOrDo />
      <div className="side-places">
        <nav aria-label={shell.places} className="flex flex-col gap-px">
          <SideTab
            href={ALL_KNOWLEDGE_BASES}
            label={shell.knowledgeBases}
            icon="folder"
            isRail={isRail}
            isCurrent={path === "/" || path === "/kb"}
            onlyOnRail
          />
          {everyday.map((place) => (
            <SideTab
              key={place.href}
              {...place}
              isRail={isRail}
              isCurrent={path === place.href}
              count={place.href === "/archive" ? archivedCount(knowledgeBases) : undefined}
            />
          ))}
        </nav>
        <KnowledgeBaseTabs knowledgeBases={knowledgeBases} />
        {administration.length > 0 && (
          <nav aria-label={shell.administration} className="mt-1 flex flex-col gap-px">
            <p className="wide-only px-2.5 pt-3.5 pb-1 text-12 font-semibold text-ink-3">{shell.administration}</p>
            {administration.map((place) => (
              <SideTab key={place.href} {...place} isRail={isRail} isCurrent={path === place.href} />
            ))}
          </nav>
        )}
      </div>
      <div className="tray-slot">
        <UploadTray />
      </div>
      <div className="mt-2.5 mr-3 flex shrink-0 items-center gap-2 border-t border-line-2 pt-2 pl-1">
        <PersonMenu me={me} hasWords={!isRail} />
        {!isRail && <ThemeSwitch />}
      </div>
    </aside>
  );
}

function FindOrDo() {
  return (
    <button
      type="button"
      onClick={openPalette}
      className="wide-only mt-3 mr-3 mb-2.5 flex h-[34px] shrink-0 items-center gap-2 rounded-control border border-line-2 bg-sheet pr-2 pl-2.5 text-left text-ink-3 hover:border-edge"
    >
      <Icon name="search" />
      <span className="truncate">{shell.findOrDo}</span>
      <kbd className="ml-auto shrink-0">Ctrl K</kbd>
    </button>
  );
}

function KnowledgeBaseTabs({ knowledgeBases }: { knowledgeBases: readonly KnowledgeBase[] }) {
  const path = usePathname();
  const current = useSearchParams().get(path === "/document" ? "kb" : "id");
  const isInside = path === "/kb" || path === "/document";
  return (
    <nav aria-label={shell.knowledgeBases} className="wide-only mt-1 flex flex-col gap-px">
      <div className="flex items-center justify-between pt-3.5 pr-3 pb-1 pl-2.5 text-12 font-semibold text-ink-3">
        <Link
          href={ALL_KNOWLEDGE_BASES}
          className="rounded-mark text-ink-3 no-underline hover:text-ink hover:underline"
          aria-current={path === "/" ? "page" : undefined}
        >
          {shell.knowledgeBases}
        </Link>
        <Link
          href={NEW_KNOWLEDGE_BASE}
          aria-label={shell.newKnowledgeBase}
          className="-my-1 grid size-6 place-items-center rounded-mark text-ink-3 hover:bg-desk-2 hover:text-ink"
        >
          <Icon name="plus" size={14} />
        </Link>
      </div>
      {knowledgeBases.map((kb) => (
        <SideTab
          key={kb.id}
          href={hrefOfKnowledgeBase(kb.id)}
          label={kb.name}
          icon="folder"
          isRail={false}
          isCurrent={isInside && kb.id === current}
          count={formatCount(activeCount(kb))}
        />
      ))}
    </nav>
  );
}

/** What its table shows: everything but the archive. */
function activeCount({ counts }: KnowledgeBase): number {
  return counts.pending + counts.processing + counts.completed + counts.failed;
}

/** What the archive page lists; nothing where it is empty. */
function archivedCount(knowledgeBases: readonly KnowledgeBase[]): string | undefined {
  const total = knowledgeBases.filter((kb) => mayManage(kb.role)).reduce((sum, kb) => sum + kb.counts.archived, 0);
  return total > 0 ? formatCount(total) : undefined;
}
