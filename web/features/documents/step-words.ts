/** A step in the words of a row: `Reading`, `12 of 48`. */
import { formatCount } from "@/lib/format";
import { documents } from "@/text";

import type { Step } from "./steps";

export function stepWords({ stage, page, pages }: Step): { word: string; figure: string } {
  const t = documents.steps;
  if (stage !== "waiting" && page !== null && pages !== null) return { word: t[stage], figure: t.pageOf(formatCount(page), formatCount(pages)) };
  return { word: t[stage], figure: stage !== "waiting" && pages !== null ? t.pages(formatCount(pages)) : "" };
}
