"use client";

import { useEffect, useState, type ReactNode } from "react";

import { Button, IconButton } from "@/components/ui/button";
import { formatCount } from "@/lib/format";
import { document as text } from "@/text";

import type { Viewer } from "./use-viewer";
import type { Zoom } from "./use-zoom";

const t = text.bar;

/** Pages, zoom, finding, and what is shown. */
export function ViewerBar({ viewer, zoom, find, views }: { viewer: Viewer; zoom: Zoom | null; find: ReactNode; views: ReactNode }) {
  return (
    <div
      role="toolbar"
      aria-label={t.label}
      className="flex shrink-0 flex-wrap items-center gap-x-3.5 gap-y-2 border-y border-line bg-sunk px-3 py-2 md:min-h-[46px] md:py-1.5 md:pr-4"
    >
      <PageField viewer={viewer} />
      {zoom && (
        <div className="flex items-center gap-1 max-lg:hidden">
          <IconButton label={t.zoomOut} icon="minus" size="small" onClick={zoom.smaller} />
          <IconButton label={t.zoomIn} icon="plus" size="small" onClick={zoom.larger} />
          <Button size="small" kind="bare" onClick={zoom.fit} className="text-ink-2">
            {zoom.value === 1 ? t.fit : t.zoom(Math.round(zoom.value * 100))}
          </Button>
        </div>
      )}
      <span className="hidden flex-1 md:block" />
      {find}
      {views}
    </div>
  );
}

function PageField({ viewer }: { viewer: Viewer }) {
  const { page, pages, goTo } = viewer;
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const go = () => {
    const wanted = Number.parseInt(typed, 10);
    if (Number.isNaN(wanted)) setTyped(String(page));
    else if (wanted !== page) goTo(wanted);
  };
  return (
    <div className="flex shrink-0 items-center gap-1 text-13 whitespace-nowrap">
      <IconButton label={t.previous} icon="left" size="small" className="max-md:hidden" aria-disabled={page <= 1} onClick={() => page > 1 && goTo(page - 1)} />
      <label className="flex items-center gap-1.5">
        <span className="sr-only">{t.page}</span>
        <input
          inputMode="numeric"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={go}
          onKeyDown={(event) => event.key === "Enter" && go()}
          className="h-7 rounded-control border border-edge bg-raised text-center coarse:h-control coarse:text-16 dark:bg-sheet"
          style={{ width: `${Math.max(4, String(pages).length + 2)}ch` }}
        />
        <span className="text-ink-2">{t.of(pages)}</span>
      </label>
      <IconButton
        label={t.next}
        icon="right"
        size="small"
        className="max-md:hidden"
        aria-disabled={page >= pages}
        onClick={() => page < pages && goTo(page + 1)}
      />
      <span role="status" className="sr-only">
        {`${t.page} ${formatCount(page)}`}
      </span>
    </div>
  );
}
