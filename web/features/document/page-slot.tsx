"use client";

import { memo, useState } from "react";

import { Button } from "@/components/ui/button";
import { pageImageUrl } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { document as t } from "@/text";

import { imageWidth, type Extent } from "./geometry";
import type { Note } from "./notes";
import { PageOverlay } from "./page-overlay";
import { usePage } from "./use-page";
import type { Viewer } from "./use-viewer";

interface Slot {
  number: number;
  /** Null while the page is far away: then there is its room, and nothing in it. */
  viewer: Viewer | null;
  notes: ReadonlyMap<string, Note> | null;
  usual: Extent;
  width: number;
}

export const PageSlot = memo(function PageSlot({ number, viewer, notes, usual, width }: Slot) {
  const [extent, setExtent] = useState<Extent | null>(null);
  const { width: across, height } = extent ?? usual;
  return (
    <div className="paper w-full" data-page={number} style={{ aspectRatio: `${across} / ${height}` }}>
      {viewer && notes && width > 0 && <Sheet number={number} viewer={viewer} notes={notes} width={width} onExtent={setExtent} />}
    </div>
  );
});

function Sheet({
  number,
  viewer,
  notes,
  width,
  onExtent,
}: {
  number: number;
  viewer: Viewer;
  notes: ReadonlyMap<string, Note>;
  width: number;
  onExtent: (extent: Extent) => void;
}) {
  const { place, document } = viewer;
  const { data } = usePage(place, number);
  const [attempt, setAttempt] = useState(0);
  const [hasFailed, setFailed] = useState(false);
  if (hasFailed) {
    return (
      <div className="grid h-full place-content-center justify-items-center gap-3 p-4 text-center text-13 text-paper-ink">
        <p>{t.pages.noImage}</p>
        <Button
          size="small"
          icon="retry"
          onClick={() => {
            setAttempt((count) => count + 1);
            setFailed(false);
          }}
        >
          {t.pages.tryAgain}
        </Button>
      </div>
    );
  }
  return (
    <>
      {/* Next's own image component needs a server that scales; ours does, by `width`. */}
      <img
        key={attempt}
        src={pageImageUrl(place, number, imageWidth(width, window.devicePixelRatio), document.revision)}
        alt={t.pages.alt(formatCount(number))}
        decoding="async"
        draggable={false}
        onLoad={(event) => !data?.layout && onExtent({ width: event.currentTarget.naturalWidth, height: event.currentTarget.naturalHeight })}
        onError={() => setFailed(true)}
      />
      {data?.layout && <PageOverlay page={data} layout={data.layout} viewer={viewer} notes={notes} onExtent={onExtent} />}
    </>
  );
}
