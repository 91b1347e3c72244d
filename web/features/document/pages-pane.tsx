"use client";

import { useEffect, useLayoutEffect, useRef, useState } from "react";

import { classNames } from "@/components/ui/class-names";
import { document as t } from "@/text";

import type { Extent } from "./geometry";
import type { Note } from "./notes";
import { PageSlot } from "./page-slot";
import { Ruler } from "./ruler";
import { bring } from "./scrolling";
import { useNear } from "./use-near";
import { usePage } from "./use-page";
import type { Viewer } from "./use-viewer";

const A4: Extent = { width: 595, height: 842 };

/** All pages below each other. Each has its room from the start, and its picture only when it comes near. */
export function PagesPane({ viewer, zoom, notes, className }: { viewer: Viewer; zoom: number; notes: ReadonlyMap<string, Note>; className?: string }) {
  const { place, pages, page, jumps, jumpedTo, wishes } = viewer;
  const pane = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const near = useNear(pane, pages);
  const width = useWidth(list);
  const extent = usePage(place, page).data?.layout ?? null;
  const usual = useUsual(extent);
  const isByHand = useRef(false);
  const seenJumps = useRef(jumps);

  // Also when the usual size of a page becomes known: the room above has another height then.
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolling changes the page, and must not bring it into view
  useLayoutEffect(() => {
    const isJump = seenJumps.current !== jumps;
    seenJumps.current = jumps;
    const slot = list.current?.children[(isJump || !isByHand.current ? jumpedTo : page) - 1];
    isByHand.current = false;
    if (pane.current && slot) bring(pane.current, slot, 0.02);
  }, [jumps, usual, zoom]);

  const takeOver = () => {
    isByHand.current = true;
    wishes.current.pages = false;
  };
  const onScroll = () => {
    if (!isByHand.current || !pane.current || !list.current) return;
    const seen = pageAt(pane.current, list.current, near);
    if (seen !== null && seen !== page) viewer.follow(seen);
  };

  return (
    <div className={classNames("relative min-h-0 min-w-0 bg-desk-2 dark:bg-desk", className)}>
      <div
        ref={pane}
        data-pane
        role="region"
        aria-label={t.pages.label}
        tabIndex={0}
        onScroll={onScroll}
        onWheel={takeOver}
        onTouchMove={takeOver}
        onPointerDown={takeOver}
        onKeyDown={(event) => ["PageDown", "PageUp", "Home", "End", " ", "ArrowDown", "ArrowUp"].includes(event.key) && takeOver()}
        className="h-full overflow-auto px-3.5 py-3.5 pr-6 focus-visible:outline-offset-[-2px] md:px-7 md:py-6 md:pr-9"
      >
        <div ref={list} className="mx-auto flex flex-col gap-[18px]" style={{ width: `${zoom * 100}%`, maxWidth: zoom > 1 ? "none" : "880px" }}>
          {Array.from({ length: pages }, (_, index) => (
            <PageSlot
              key={index}
              number={index + 1}
              viewer={near.has(index + 1) ? viewer : null}
              usual={usual}
              width={width}
              notes={near.has(index + 1) ? notes : null}
            />
          ))}
        </div>
      </div>
      <Ruler viewer={viewer} />
    </div>
  );
}

/** The size of the page that was looked at first stands for all whose own is not known yet. */
function useUsual(extent: Extent | null): Extent {
  const [usual, setUsual] = useState<Extent | null>(null);
  useEffect(() => {
    if (extent) setUsual((known) => known ?? extent);
  }, [extent]);
  return usual ?? A4;
}

function useWidth(list: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!list.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    observer.observe(list.current);
    return () => observer.disconnect();
  }, [list]);
  return width;
}

/** The page that fills the upper third of the pane. */
function pageAt(pane: HTMLElement, list: HTMLElement, near: ReadonlySet<number>): number | null {
  const line = pane.getBoundingClientRect().top + pane.clientHeight / 3;
  const seen = [...near]
    .toSorted((one, other) => one - other)
    .filter((number) => {
      const slot = list.children[number - 1];
      return slot && slot.getBoundingClientRect().top <= line;
    });
  return seen.at(-1) ?? null;
}
