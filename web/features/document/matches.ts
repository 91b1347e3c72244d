/** What was found inside of a document, as things to go to one after the other. */
import type { PageMatch } from "@/lib/api";
import { joinSpans, type Span } from "@/lib/spans";

export interface Match {
  page: number;
  /** In the text of its page; null where only the page is known. */
  span: Span | null;
}

/** Neighbouring words are one match: whoever looks for `notice period` counts it once. */
export function matchesOf(pages: readonly PageMatch[]): Match[] {
  return pages.flatMap(({ page, spans }): Match[] => {
    if (spans.length === 0) return [{ page, span: null }];
    return joinSpans(spans).map((span) => ({ page, span }));
  });
}

/** The next or previous one, round and round. From nowhere: the first from the current page on, or the last before it. */
export function stepFrom(matches: readonly Match[], current: number | null, step: 1 | -1, page: number): number | null {
  if (matches.length === 0) return null;
  if (current !== null) return (current + step + matches.length) % matches.length;
  if (step === 1) {
    const found = matches.findIndex((match) => match.page >= page);
    return found === -1 ? 0 : found;
  }
  const found = matches.findLastIndex((match) => match.page < page);
  return found === -1 ? matches.length - 1 : found;
}

/** Where a search starts: on this page, behind this place of it; `isJump` goes on to later pages and then to the first. */
export function firstFrom(matches: readonly Match[], page: number, start: number, isJump: boolean): number | null {
  const onPage = matches.findIndex((match) => match.page === page && (match.span?.[0] ?? 0) >= start);
  if (onPage !== -1) return onPage;
  const anyOnPage = matches.findIndex((match) => match.page === page);
  if (anyOnPage !== -1 || !isJump) return anyOnPage === -1 ? null : anyOnPage;
  return stepFrom(matches, null, 1, page);
}

/** How many there are on each page, for the ruler. */
export function countByPage(matches: readonly Match[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { page } of matches) counts.set(page, (counts.get(page) ?? 0) + 1);
  return counts;
}
