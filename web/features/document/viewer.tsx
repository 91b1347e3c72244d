"use client";

import { useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { ButtonLink, IconButton } from "@/components/ui/button";
import { classNames } from "@/components/ui/class-names";
import { Segments } from "@/components/ui/tabs";
import { mayEdit, mayManage } from "@/features/session/rights";
import type { Document, DocumentPlace, Standing } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { MEDIUM, NARROW, useMedia } from "@/lib/use-media";
import { useProgress } from "@/lib/use-live";
import { document as t } from "@/text";

import { FindField } from "./find-field";
import { hasPictures } from "./kinds";
import { PagesPane } from "./pages-pane";
import { Panel, PanelContent } from "./panel";
import { TextPane } from "./text-pane";
import { MOST_AT_ONCE, useNotes } from "./use-notes";
import { useViewer, type Viewer as ViewerState } from "./use-viewer";
import { useViewerKeys } from "./use-viewer-keys";
import { useZoom } from "./use-zoom";
import { ViewerBar } from "./viewer-bar";

/** Page, text and what is known about the document, beside each other as far as the window allows. */
export function Viewer({ place, document, standing }: { place: DocumentPlace; document: Document; standing: Standing }) {
  const viewer = useViewer(place, document);
  const isNarrow = useMedia(NARROW);
  const isMedium = useMedia(MEDIUM);
  const [isPanelOpen, setPanelOpen] = useState(false);
  const zoom = useZoom();
  const field = useRef<HTMLInputElement>(null);
  const hasPages = hasPictures(document);
  const view = hasPages ? viewer.view : "text";
  const mayWrite = mayEdit(standing) && document.status === "completed";
  const notes = useNotes(place, viewer.pages <= MOST_AT_ONCE || viewer.tab === "notes");
  const progress = useProgress(document.id);

  useViewerKeys(viewer, zoom, {
    focusFind: () => field.current?.focus(),
    toggleText: () => hasPages && viewer.change({ view: viewer.view === "text" ? "both" : "text" }),
    showHistory: () => {
      setPanelOpen((isOpen) => !isOpen || viewer.tab !== "history");
      viewer.change({ tab: "history" });
    },
  });

  const panel = { viewer, standing, notes, mayWrite };
  const shows = paneOf(isNarrow, isPanelOpen, view);
  return (
    <>
      <ViewerBar
        viewer={viewer}
        zoom={hasPages && view !== "text" ? zoom : null}
        find={document.status === "completed" ? <FindField viewer={viewer} field={field} /> : null}
        views={
          <>
            {!isNarrow && hasPages && <ViewChoice viewer={viewer} />}
            {isMedium && !isNarrow && (
              <IconButton
                label={t.openPanel}
                icon="panel"
                aria-pressed={isPanelOpen}
                kind={isPanelOpen ? "plain" : "bare"}
                onClick={() => setPanelOpen(!isPanelOpen)}
              />
            )}
            {isNarrow && (
              <NarrowChoice viewer={viewer} hasPages={hasPages} isPanelOpen={isPanelOpen} setPanelOpen={setPanelOpen} notes={notes.data?.length ?? 0} />
            )}
          </>
        }
      />
      {document.status === "archived" && (
        <Banner
          title={t.archived.title}
          className="m-3 mb-0"
          action={
            mayManage(standing) && (
              <ButtonLink href={`/archive?q=${encodeURIComponent(document.name)}`} size="small">
                {t.archived.action}
              </ButtonLink>
            )
          }
        />
      )}
      {progress?.purpose === "reread" && <Banner title={t.processing.again} className="m-3 mb-0" />}
      <div className={classNames("relative grid min-h-0 flex-1", columns(view))}>
        {shows.pages && <PagesPane viewer={viewer} zoom={zoom.value} notes={notes.byPlace} />}
        {shows.text && <TextPane viewer={viewer} notes={notes.byPlace} mayWrite={mayWrite} isAlone={view === "text"} className="lg:border-r lg:border-line" />}
        {isNarrow && isPanelOpen && (
          <div className="overflow-auto bg-sheet px-4 py-4">
            <PanelContent {...panel} />
          </div>
        )}
        {!isNarrow && (
          <aside
            aria-label={t.tabs.label}
            className={classNames(
              "min-h-0 overflow-auto bg-sheet px-[18px] pt-3 pb-5",
              isMedium && "absolute inset-y-0 right-0 z-[5] w-[min(340px,80%)] border-l border-line-2 shadow-2",
              isMedium && !isPanelOpen && "hidden",
            )}
          >
            <Panel {...panel} />
          </aside>
        )}
      </div>
    </>
  );
}

function paneOf(isNarrow: boolean, isPanelOpen: boolean, view: ViewerState["view"]): { pages: boolean; text: boolean } {
  if (!isNarrow) return { pages: view !== "text", text: view !== "page" };
  if (isPanelOpen) return { pages: false, text: false };
  return { pages: view !== "text", text: view === "text" };
}

function columns(view: ViewerState["view"]): string {
  return view === "both"
    ? "md:grid-cols-[minmax(0,1.18fr)_minmax(0,1fr)] lg:grid-cols-[minmax(0,1.18fr)_minmax(0,1fr)_304px]"
    : "md:grid-cols-[minmax(0,1fr)] lg:grid-cols-[minmax(0,1fr)_304px]";
}

function ViewChoice({ viewer }: { viewer: ViewerState }) {
  return (
    <Segments
      label={t.views.label}
      value={viewer.view}
      onChoose={(view) => viewer.change({ view })}
      choices={[
        { value: "page", label: t.views.page },
        { value: "both", label: t.views.both },
        { value: "text", label: t.views.text },
      ]}
    />
  );
}

/** On a phone there is room for one thing at a time. */
function NarrowChoice({
  viewer,
  hasPages,
  isPanelOpen,
  setPanelOpen,
  notes,
}: {
  viewer: ViewerState;
  hasPages: boolean;
  isPanelOpen: boolean;
  setPanelOpen: (isOpen: boolean) => void;
  notes: number;
}) {
  const value = isPanelOpen ? viewer.tab : hasPages && viewer.view !== "text" ? "page" : "text";
  return (
    <div className="-mx-3 -mb-2 w-screen basis-full border-t border-line bg-sheet px-4 py-1.5">
      <Segments
        label={t.views.label}
        value={value}
        onChoose={(chosen) => {
          const isTab = chosen !== "page" && chosen !== "text";
          setPanelOpen(isTab);
          viewer.change(isTab ? { tab: chosen } : { view: chosen === "text" ? "text" : "both" });
        }}
        choices={[
          ...(hasPages ? [{ value: "page" as const, label: t.views.page }] : []),
          { value: "text", label: t.views.text },
          { value: "history", label: t.tabs.history },
          { value: "similar", label: t.tabs.similar },
          { value: "notes", label: t.tabs.notes, count: notes > 0 ? formatCount(notes) : undefined },
          { value: "explain", label: t.tabs.explain },
        ]}
      />
    </div>
  );
}
