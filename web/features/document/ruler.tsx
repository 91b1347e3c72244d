"use client";

import { useMemo } from "react";

import { formatCount } from "@/lib/format";
import { document as t } from "@/text";

import { countByPage } from "./matches";
import type { Viewer } from "./use-viewer";

const MOST_TICKS = 80;

/** The whole document at the edge of its pages: where the matches are, and where one is. For the mouse; next and previous are for everybody. */
export function Ruler({ viewer }: { viewer: Viewer }) {
  const { pages, page, matches } = viewer;
  const counts = useMemo(() => countByPage(matches), [matches]);
  if (pages < 2) return null;
  const top = (number: number) => `${((number - 1) / (pages - 1)) * 100}%`;
  const ticks = pages <= MOST_TICKS ? Array.from({ length: pages }, (_, index) => index + 1) : [];
  return (
    <div className="ruler" aria-hidden="true" title={t.pages.ruler}>
      {ticks
        .filter((number) => number !== page && !counts.has(number))
        .map((number) => (
          <i key={number} style={{ top: top(number) }} />
        ))}
      {!counts.has(page) && <i data-current style={{ top: top(page) }} />}
      {[...counts].map(([number, count]) => (
        <b
          key={number}
          data-current={number === page || undefined}
          title={t.pages.rulerPage(formatCount(number), count)}
          onClick={() => viewer.goTo(number)}
          style={{ top: top(number) }}
        />
      ))}
    </div>
  );
}
