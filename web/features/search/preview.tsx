"use client";

import { useLayoutEffect, useMemo, useRef, useState } from "react";

import { ButtonLink } from "@/components/ui/button";
import { Marked } from "@/components/ui/marked";
import { Name } from "@/components/ui/name";
import { boxesOf, imageWidth, joined, placeOf } from "@/features/document/geometry";
import { findPassage, highlightsIn } from "@/features/document/passage";
import { bring } from "@/features/document/scrolling";
import { usePage, useParts } from "@/features/document/use-page";
import { pageImageUrl, type DocumentPage, type Hit, type Layout, type Paragraph } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { joinSpans, overlaps, spansWithin, type Span } from "@/lib/spans";
import { search as text } from "@/text";

import { hrefOfHit } from "./groups";

const t = text.preview;

/** The page of the chosen passage, scrolled to it. */
export function Preview({ hit, q }: { hit: Hit; q: string }) {
  const place = { kbId: hit.kb_id, documentId: hit.document_id };
  const pane = useRef<HTMLDivElement>(null);
  const page = usePage(place, hit.page);
  const parts = useParts(place, hit.page);
  const passage = useMemo(() => (page.data ? findPassage(page.data.text, hit.snippet) : null), [page.data, hit]);
  const marks = useMemo(() => (page.data ? highlightsIn(page.data.text, hit.snippet, joinSpans(hit.highlights)) : []), [page.data, hit]);
  const isReady = page.data !== undefined && parts.data !== undefined;

  useLayoutEffect(() => {
    if (!pane.current || !isReady) return;
    const shown = pane.current.querySelector("[data-passage], [data-kind=mark]");
    if (shown) bring(pane.current, shown, 0.3);
    else pane.current.scrollTo({ top: 0 });
  }, [isReady, hit]);

  const found = passagesOf(parts.data?.paragraphs ?? [], passage, marks);
  return (
    <aside aria-label={t.label} className="flex min-h-0 flex-col border-l border-line">
      <div className="flex items-center gap-3 px-3.5 py-2.5">
        <div className="min-w-0 flex-1">
          <p className="font-semibold">
            <Name name={hit.document_name} />
          </p>
          <p className="text-12 text-ink-3">{t.page(formatCount(hit.page))}</p>
        </div>
        <ButtonLink href={hrefOfHit(hit, q)} prefetch={false}>
          {t.open}
          <kbd>↵</kbd>
        </ButtonLink>
      </div>
      <div
        ref={pane}
        data-pane
        tabIndex={0}
        role="region"
        aria-label={t.page(formatCount(hit.page))}
        className="min-h-0 flex-1 overflow-auto bg-desk-2 p-4 focus-visible:outline-offset-[-2px] dark:bg-desk"
      >
        {page.isError && <p className="text-13 text-ink-2">{t.gone}</p>}
        {page.data?.layout && hit.image_url !== null ? (
          <PagePicture key={`${hit.document_id}/${hit.page}`} hit={hit} page={page.data} layout={page.data.layout} passages={found} marks={marks} />
        ) : (
          parts.data && <PageText paragraphs={parts.data.paragraphs} passages={found} marks={marks} />
        )}
      </div>
    </aside>
  );
}

/** The paragraphs of the passage: those with a match in them, or all of it where only its meaning was found. */
function passagesOf(paragraphs: readonly Paragraph[], passage: Span | null, marks: readonly Span[]): readonly Paragraph[] {
  const within = paragraphs.filter((one) => passage !== null && overlaps([one.start, one.end], passage));
  const matching = within.filter((one) => marks.some((mark) => overlaps([one.start, one.end], mark)));
  return matching.length > 0 ? matching : within;
}

function PagePicture({
  hit,
  page,
  layout,
  passages,
  marks,
}: {
  hit: Hit;
  page: DocumentPage;
  layout: Layout;
  passages: readonly Paragraph[];
  marks: readonly Span[];
}) {
  const [hasFailed, setFailed] = useState(false);
  const boxes = joined(boxesOf(marks, layout.words));
  return (
    <div className="paper" style={{ aspectRatio: `${layout.width} / ${layout.height}` }}>
      {hasFailed ? (
        <p className="p-4 text-13 text-paper-ink">{t.gone}</p>
      ) : (
        <img
          src={pageImageUrl({ kbId: hit.kb_id, documentId: hit.document_id }, page.page_number, imageWidth(420, window.devicePixelRatio))}
          alt={t.page(formatCount(page.page_number))}
          onError={() => setFailed(true)}
        />
      )}
      <div aria-hidden="true" className="absolute inset-0">
        {passages.map(
          (one) =>
            one.box && <div key={one.paragraph_index} className="on-paper" data-kind="part" data-on="passage" data-passage style={placeOf(one.box, layout)} />,
        )}
        {boxes.map((box, index) => (
          <div key={index} className="on-paper" data-kind="mark" style={placeOf(box, layout)} />
        ))}
      </div>
    </div>
  );
}

/** Of a text without pages to look at. */
function PageText({ paragraphs, passages, marks }: { paragraphs: readonly Paragraph[]; passages: readonly Paragraph[]; marks: readonly Span[] }) {
  return (
    <div className="rounded-mark bg-sheet px-5 py-4 shadow-1">
      {paragraphs.map((one) => (
        <div
          key={one.paragraph_index}
          className="prose-part pl-3.5!"
          data-kind={one.kind}
          data-on={passages.includes(one) ? "passage" : undefined}
          data-passage={passages.includes(one) || undefined}
        >
          <p className="whitespace-pre-line">
            <Marked text={one.text} spans={spansWithin(marks, [one.start, one.end])} />
          </p>
        </div>
      ))}
    </div>
  );
}
