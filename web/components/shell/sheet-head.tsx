"use client";

import Link from "next/link";
import { useEffect, type ReactNode } from "react";

import { Icon } from "@/components/ui/icons";
import { common } from "@/text";

export interface Crumb {
  href: string;
  label: string;
}

/** Path, title in the document's voice, one line of facts; at the right at most one primary button and two others. */
export function SheetHead({
  title,
  crumbs = [],
  facts,
  actions,
  documentTitle,
}: {
  title: ReactNode;
  crumbs?: readonly Crumb[];
  facts?: ReactNode;
  actions?: ReactNode;
  /** For the browser's tab, where `title` is not plain text. */
  documentTitle?: string;
}) {
  useTitle(documentTitle ?? (typeof title === "string" ? title : ""));
  return (
    <header className="flex flex-wrap items-end gap-x-4 gap-y-2.5 px-4 pt-4 pb-3 md:flex-nowrap md:px-6 md:pt-[18px] md:pb-3.5">
      <div className="min-w-0 flex-[1_1_240px]">
        {crumbs.length > 0 && <Crumbs crumbs={crumbs} />}
        <h1 className="font-doc text-[23px] leading-7 font-semibold tracking-[-0.012em] text-balance [overflow-wrap:anywhere] md:text-26">{title}</h1>
        {facts && <p className="mt-0.5 text-13 text-ink-3">{facts}</p>}
      </div>
      {actions && <div className="flex flex-none flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

function Crumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <ol className="mb-0.5 flex min-w-0 items-center gap-1.5 text-12 text-ink-3">
      {crumbs.map((crumb) => (
        <li key={crumb.href} className="flex min-w-0 items-center gap-1.5">
          <Link href={crumb.href} className="truncate py-1 text-ink-3 no-underline hover:text-petrol hover:underline">
            <bdi>{crumb.label}</bdi>
          </Link>
          <Icon name="right" size={12} />
        </li>
      ))}
    </ol>
  );
}

/** Names the browser's tab after what is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    if (title) document.title = `${title} · ${common.product}`;
  }, [title]);
}

/** Between head and table: filters left and right. */
export function SheetBar({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2 px-4 pb-2.5 md:px-6 md:pb-3">{children}</div>;
}

/** Count and pager. With `isDock` the dark strip that a selection turns it into. */
export function SheetFoot({ children, isDock = false, label }: { children: ReactNode; isDock?: boolean; label?: string }) {
  return (
    <div
      {...(isDock ? { role: "toolbar", "aria-label": label, "data-dock": true } : {})}
      className={`sticky bottom-0 z-[3] mt-auto flex min-h-12 flex-wrap items-center gap-2.5 border-t px-4 py-1.5 text-13 whitespace-nowrap max-md:bottom-[58px] md:pr-[18px] md:pl-6 ${
        isDock
          ? "border-dock bg-dock text-on-dock-2 max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:z-[41] max-md:min-h-[59px] max-md:flex-nowrap"
          : "border-line bg-sheet text-ink-3"
      }`}
    >
      {children}
    </div>
  );
}
