"use client";

import Link from "next/link";
import { memo, useRef } from "react";

import { classNames } from "@/components/ui/class-names";
import { Icon } from "@/components/ui/icons";
import { Marked } from "@/components/ui/marked";
import { Name } from "@/components/ui/name";
import { Time } from "@/components/ui/time";
import type { Hit } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { hrefOfDocument } from "@/lib/hrefs";
import { joinSpans } from "@/lib/spans";
import { common, search as t } from "@/text";

import { hrefOfHit, MOST_OF_ONE, type HitGroup } from "./groups";

const HOVER_MS = 180;

export interface ResultsProps {
  groups: readonly HitGroup[];
  q: string;
  kbNames: ReadonlyMap<string, string>;
  selected: number;
  onSelect: (index: number) => void;
  /** Up from the first one. */
  onLeave: () => void;
}

/** Passages by document. The arrow keys move over them, and so does the preview. */
export function Results({ groups, q, kbNames, selected, onSelect, onLeave }: ResultsProps) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: React.KeyboardEvent) => {
    const step = event.key === "ArrowDown" || event.key === "j" ? 1 : event.key === "ArrowUp" || event.key === "k" ? -1 : 0;
    const from = (event.target as HTMLElement).closest<HTMLElement>("[data-hit]")?.dataset.hit;
    if (step === 0 || from === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Number(from) + step;
    if (next < 0) onLeave();
    else focusHit(list.current, next);
  };
  return (
    <div ref={list} role="region" aria-label={t.results} onKeyDown={move} data-results>
      {groups.map((group) => (
        <Group key={group.documentId} group={group} q={q} kbName={kbNames.get(group.kbId) ?? ""} selected={selected} onSelect={onSelect} />
      ))}
    </div>
  );
}

export function focusHit(around: ParentNode | null, index: number): void {
  around?.querySelector<HTMLElement>(`[data-hit="${index}"]`)?.focus();
}

function Group({ group, q, kbName, selected, onSelect }: { group: HitGroup; q: string; kbName: string; selected: number; onSelect: (index: number) => void }) {
  const place = { kbId: group.kbId, documentId: group.documentId };
  return (
    <section aria-label={group.name} className="border-b border-line pt-5 pb-3 first:pt-3">
      <div className="flex items-start gap-2.5 px-2">
        <Icon name="document" className="mt-0.5 text-ink-3" />
        <div className="min-w-0">
          <h2 className="font-semibold">
            <Link href={hrefOfDocument(place)} className="flex min-w-0 text-ink no-underline hover:underline">
              <Name name={group.name} />
            </Link>
          </h2>
          <p className="text-12 text-ink-3">
            <bdi>{kbName}</bdi> · {common.documentTypes[group.type]} · {t.added} <Time at={group.addedAt} />
          </p>
        </div>
      </div>
      <ul className="mt-1.5">
        {group.hits.map(({ hit, index }) => (
          <li key={index}>
            <Passage hit={hit} index={index} q={q} isSelected={index === selected} onSelect={onSelect} />
          </li>
        ))}
      </ul>
      {group.hits.length >= MOST_OF_ONE && (
        <Link href={hrefOfDocument(place, { find: q })} className="mt-1 ml-[58px] md:ml-[100px] inline-block py-1 text-13">
          {t.more}
        </Link>
      )}
    </section>
  );
}

const Passage = memo(function Passage({
  hit,
  index,
  q,
  isSelected,
  onSelect,
}: {
  hit: Hit;
  index: number;
  q: string;
  isSelected: boolean;
  onSelect: (index: number) => void;
}) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return (
    <Link
      href={hrefOfHit(hit, q)}
      prefetch={false}
      data-hit={index}
      aria-current={isSelected || undefined}
      onFocus={() => onSelect(index)}
      // The preview follows the pointer where it rests, not where it passes.
      onPointerEnter={(event) => {
        if (event.pointerType === "mouse") timer.current = setTimeout(() => onSelect(index), HOVER_MS);
      }}
      onPointerLeave={() => clearTimeout(timer.current)}
      className={classNames("flex scroll-my-8 gap-3 rounded-control px-2 py-2 text-ink no-underline", isSelected ? "lg:bg-petrol-soft" : "hover:bg-sunk")}
    >
      <span className="w-[38px] shrink-0 pt-0.5 text-right text-12 text-ink-3 md:w-[80px]">
        <span className="font-proof">{t.page(formatCount(hit.page))}</span>
        <span className="mt-0.5 block leading-[15px] max-md:hidden">{t.matched[hit.matched]}</span>
      </span>
      <span className="snippet min-w-0 font-doc text-[15.5px] leading-[23px] [overflow-wrap:anywhere]">
        <Marked text={hit.snippet} spans={joinSpans(hit.highlights)} />
        <span className="mt-1 block font-ui text-12 leading-4 text-ink-3 md:hidden">{t.matched[hit.matched]}</span>
      </span>
    </Link>
  );
});
