/** From a list of passages, the best first, to documents with theirs. */
import type { Hit } from "@/lib/api";
import { hrefOfDocument } from "@/lib/hrefs";
import { cutter } from "@/lib/spans";
import { nameOf } from "@/features/document/passage";

export interface HitGroup {
  documentId: string;
  kbId: string;
  name: string;
  type: Hit["document_type"];
  addedAt: string;
  /** With the place that the arrow keys count them by. */
  hits: readonly { hit: Hit; index: number }[];
}

/** The API gives at most so many of one document: then there may be more of them inside. */
export const MOST_OF_ONE = 3;

/** Documents as their best passage stands, and within each one the best first: what Enter opens is what fits best. */
export function groupsOf(hits: readonly Hit[]): HitGroup[] {
  const byDocument = new Map<string, Hit[]>();
  for (const hit of hits) byDocument.set(hit.document_id, [...(byDocument.get(hit.document_id) ?? []), hit]);
  let index = 0;
  return [...byDocument.values()].flatMap((found) => {
    const [best] = found;
    if (!best) return [];
    return [
      {
        documentId: best.document_id,
        kbId: best.kb_id,
        name: best.document_name,
        type: best.document_type,
        addedAt: best.created_at,
        hits: found.map((hit) => ({ hit, index: index++ })),
      },
    ];
  });
}

/**
 * What to look for inside of the document. Inside, every word must be there, while a passage may be found by some of them:
 * then it is looked for by those that it has.
 */
export function findOf(hit: Hit, q: string): string {
  const cut = cutter(hit.snippet);
  const words = [...new Set(hit.highlights.map(([start, end]) => cut(start, end).toLowerCase()))];
  if (words.length === 0) return "";
  const asked = q
    .replaceAll(/"|(^|\s)-\S+/g, " ")
    .trim()
    .split(/\s+/);
  return words.join(" ").split(/\s+/).length >= asked.length ? q : words.join(" ");
}

/** The page of the passage, with the passage named and its words marked. */
export function hrefOfHit(hit: Hit, q: string): string {
  return hrefOfDocument({ kbId: hit.kb_id, documentId: hit.document_id }, { page: hit.page, find: findOf(hit, q), at: nameOf(hit.snippet) });
}
