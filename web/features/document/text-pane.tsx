"use client";

import { useLayoutEffect, useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { classNames } from "@/components/ui/class-names";
import { Failure } from "@/components/ui/failure";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { formatCount } from "@/lib/format";
import { document as t } from "@/text";

import { blocksOf } from "./blocks";
import { NoteEditor, NoteView } from "./note-view";
import { keyOf, type Note, type NotePlace } from "./notes";
import { passageOn } from "./page-overlay";
import { TextBlock } from "./text-block";
import { bring } from "./scrolling";
import { usePage, useParts } from "./use-page";
import type { Viewer } from "./use-viewer";

/** The text of the page that is looked at, in paragraphs, with their notes. */
export function TextPane({
  viewer,
  notes,
  mayWrite,
  isAlone,
  className,
}: {
  viewer: Viewer;
  notes: ReadonlyMap<string, Note>;
  mayWrite: boolean;
  /** Without the page beside it: figures are shown here, too. */
  isAlone: boolean;
  className?: string;
}) {
  const { place, page, pages, jumps, wishes } = viewer;
  const pane = useRef<HTMLDivElement>(null);
  const itself = usePage(place, page);
  const parts = useParts(place, page);
  const [writing, setWriting] = useState<string | null>(null);
  const passage = passageOn(viewer, page);

  useLayoutEffect(() => {
    const shown = pane.current?.querySelector("mark[data-current], [data-passage]");
    if (shown && pane.current && wishes.current.text) {
      wishes.current.text = false;
      bring(pane.current, shown);
    }
  }, [jumps, viewer.match, passage?.[0], parts.data, wishes]);
  useLayoutEffect(() => {
    pane.current?.scrollTo({ top: 0 });
  }, [page]);

  const error = itself.error ?? parts.error;
  const onPage: NotePlace = { kind: "page", page };
  const pageNote = notes.get(keyOf(onPage));
  const blocks = parts.data ? blocksOf(parts.data.paragraphs, parts.data.diagrams) : null;
  const spans = viewer.matches.filter((match) => match.page === page).flatMap((match) => (match.span ? [match.span] : []));
  return (
    <div
      ref={pane}
      data-pane
      role="region"
      aria-label={t.text.label}
      tabIndex={0}
      className={classNames("min-h-0 min-w-0 overflow-auto bg-sheet px-4 py-4 focus-visible:outline-offset-[-2px] md:px-[22px] md:py-5", className)}
    >
      <div className="mx-auto max-w-[75ch]">
        <div className="mb-2 flex min-h-7 flex-wrap items-center gap-x-3 gap-y-1">
          <h2 className="text-12 font-semibold text-ink-3">{t.text.heading(formatCount(page))}</h2>
          {itself.data?.method === "ocr" && <span className="text-12 text-ink-3">{t.text.ocr(percent(itself.data.confidence))}</span>}
          {mayWrite && itself.data && !pageNote && (
            <Button size="small" kind="bare" icon="note" className="ml-auto text-ink-2" onClick={() => setWriting(keyOf(onPage))}>
              {t.text.noteOnPage}
            </Button>
          )}
        </div>
        {itself.data?.problem && <Banner tone="warn" title={t.text.notRead} text={itself.data.problem} className="mb-3" />}
        {writing === keyOf(onPage) && <NoteEditor place={place} at={onPage} annotations={itself.data?.annotations ?? null} onClose={() => setWriting(null)} />}
        {pageNote && writing !== keyOf(onPage) && <NoteView place={place} note={pageNote} mayWrite={mayWrite} />}
        {error && !blocks ? <Failure error={error} onRetry={() => void Promise.all([itself.refetch(), parts.refetch()])} /> : null}
        {!blocks && !error && <TextBones />}
        {blocks?.length === 0 && !itself.data?.problem && <p className="py-6 text-13 text-ink-3">{t.text.empty}</p>}
        {blocks?.map((block) => (
          <TextBlock
            key={keyOf(block.place)}
            block={block}
            viewer={viewer}
            spans={spans}
            passage={passage}
            note={notes.get(keyOf(block.place))}
            isWriting={writing === keyOf(block.place)}
            onWrite={mayWrite ? (isOn) => setWriting(isOn ? keyOf(block.place) : null) : null}
            hasPicture={isAlone}
          />
        ))}
        {pages > 1 && (
          <nav aria-label={t.text.label} className="mt-4 flex justify-between gap-2 border-t border-line pt-3">
            {page > 1 ? (
              <Button size="small" icon="left" onClick={() => viewer.goTo(page - 1)}>
                {t.text.previous}
              </Button>
            ) : (
              <span />
            )}
            {page < pages && (
              <Button size="small" onClick={() => viewer.goTo(page + 1)}>
                {t.text.next}
              </Button>
            )}
          </nav>
        )}
      </div>
    </div>
  );
}

const percent = (confidence: number | null): number | null => (confidence === null ? null : Math.round(confidence * 100));

function TextBones() {
  return (
    <Skeleton className="flex flex-col gap-3 py-2">
      {["40%", "96%", "92%", "97%", "60%", "94%", "96%", "45%"].map((width, index) => (
        <Bone key={index} width={width} />
      ))}
    </Skeleton>
  );
}
