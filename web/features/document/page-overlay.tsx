"use client";

import { useEffect, useLayoutEffect, useMemo, useRef } from "react";

import type { DocumentPage, Layout } from "@/lib/api";
import { overlaps, type Span } from "@/lib/spans";
import { document as t } from "@/text";

import { boxesOf, joined, placeOf, type Box, type Extent } from "./geometry";
import { keyOf, type Note, type NotePlace } from "./notes";
import { bring, paneOf } from "./scrolling";
import { useParts } from "./use-page";
import type { Viewer } from "./use-viewer";

/** What is drawn over the picture of a page. For eyes and the mouse: the text beside it is for everybody. */
export function PageOverlay({
  page,
  layout,
  viewer,
  notes,
  onExtent,
}: {
  page: DocumentPage;
  layout: Layout;
  viewer: Viewer;
  notes: ReadonlyMap<string, Note>;
  onExtent: (extent: Extent) => void;
}) {
  const number = page.page_number;
  const { data: parts } = useParts(viewer.place, number);
  useEffect(() => onExtent(layout), [layout, onExtent]);

  const passage = passageOn(viewer, number);
  const marks = useMemo(() => {
    const onPage = viewer.matches.filter((match) => match.page === number);
    return onPage.map((match) => ({ match, boxes: match.span ? joined(boxesOf([match.span], layout.words)) : [] }));
  }, [viewer.matches, number, layout]);

  const overlay = useRef<HTMLDivElement>(null);
  const isHere = viewer.match?.page === number || passage !== null;
  useLayoutEffect(() => {
    const shown = overlay.current?.querySelector("[data-current], [data-passage]");
    const pane = overlay.current && paneOf(overlay.current);
    if (!overlay.current || !shown || !pane || !isHere || !viewer.wishes.current.pages) return;
    viewer.wishes.current.pages = false;
    const paper = overlay.current.parentElement;
    const isNearTop = paper !== null && shown.getBoundingClientRect().bottom - paper.getBoundingClientRect().top < pane.clientHeight * 0.8;
    if (isNearTop) bring(pane, paper, 0.02);
    else bring(pane, shown);
  }, [viewer.jumps, viewer.match, parts, isHere, viewer.wishes]);

  const part = (place: NotePlace, box: Box, kind: "part" | "figure", span: Span | null, title?: string) => {
    const isHovered = viewer.hovered !== null && keyOf(viewer.hovered) === keyOf(place);
    const isPassage = span !== null && passage !== null && overlaps(span, passage);
    return (
      <div
        key={keyOf(place)}
        className="on-paper"
        data-kind={kind}
        data-on={isHovered ? "hover" : isPassage ? "passage" : undefined}
        data-passage={isPassage || undefined}
        title={title}
        style={placeOf(box, layout)}
        onPointerEnter={() => viewer.setHovered(place)}
        onPointerLeave={() => viewer.setHovered(null)}
      />
    );
  };

  return (
    <div ref={overlay} aria-hidden="true" className="absolute inset-0">
      {parts?.paragraphs.map((one) => one.box && part({ kind: "paragraph", page: number, index: one.paragraph_index }, one.box, "part", [one.start, one.end]))}
      {parts?.diagrams.map((one) => one.box && part({ kind: "diagram", page: number, key: one.key }, one.box, "figure", null, one.caption ?? undefined))}
      {marks.flatMap(({ match, boxes }, index) =>
        boxes.map((box, line) => (
          <div key={`${index}-${line}`} className="on-paper" data-kind="mark" data-current={match === viewer.match || undefined} style={placeOf(box, layout)} />
        )),
      )}
      <Pins page={number} layout={layout} notes={notes} boxes={boxesByKey(parts, number)} onOpen={() => viewer.change({ tab: "notes" })} />
    </div>
  );
}

/** The match that is current, or else the passage that somebody came for. */
export function passageOn(viewer: Viewer, number: number): Span | null {
  const { match, passage } = viewer;
  if (match?.page === number && match.span) return match.span;
  return !match && passage?.page === number ? passage.span : null;
}

function boxesByKey(parts: ReturnType<typeof useParts>["data"], page: number): ReadonlyMap<string, Box | null> {
  return new Map([
    ...(parts?.paragraphs ?? []).map((one) => [keyOf({ kind: "paragraph", page, index: one.paragraph_index }), one.box] as const),
    ...(parts?.diagrams ?? []).map((one) => [keyOf({ kind: "diagram", page, key: one.key }), one.box] as const),
  ]);
}

function Pins({
  page,
  layout,
  notes,
  boxes,
  onOpen,
}: {
  page: number;
  layout: Layout;
  notes: ReadonlyMap<string, Note>;
  boxes: ReadonlyMap<string, Box | null>;
  onOpen: () => void;
}) {
  return [...notes.values()]
    .filter((note) => note.place.page === page && !note.isStale)
    .map((note) => {
      const box = boxes.get(keyOf(note.place)) ?? ([layout.width, 12, layout.width, 12] as const);
      const { top } = placeOf(box, layout);
      return (
        <span
          key={note.number}
          className="pin absolute right-[1.2%] cursor-pointer"
          style={{ top }}
          title={note.text ? `${t.pages.note(note.number)}: ${note.text}` : t.pages.note(note.number)}
          onClick={onOpen}
        >
          {note.number}
        </span>
      );
    });
}
