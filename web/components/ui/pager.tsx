"use client";

import { formatCount } from "@/lib/format";
import { common } from "@/text";

import { classNames } from "./class-names";
import { Icon } from "./icons";

/** `1–20 of 1,284` and the pages around the current one. Nothing where there is one page only, but the count. */
export function Pager({
  page,
  limit,
  total,
  onPage,
  className,
}: {
  page: number;
  limit: number;
  total: number;
  onPage: (page: number) => void;
  className?: string;
}) {
  const last = Math.max(1, Math.ceil(total / limit));
  const t = common.pager;
  const first = Math.min((page - 1) * limit + 1, total);
  return (
    <nav aria-label={t.label} className={classNames("ml-auto flex items-center gap-0.5", className)}>
      <span className="mr-2.5 whitespace-nowrap">{t.range(formatCount(first), formatCount(Math.min(page * limit, total)), formatCount(total))}</span>
      {last > 1 && (
        <>
          <Step label={t.previous} icon="left" isOff={page <= 1} onSelect={() => onPage(page - 1)} />
          {pagesAround(Math.min(page, last), last).map((number, index) =>
            number === null ? (
              <span key={`gap-${index}`} className="px-1 max-md:hidden">
                …
              </span>
            ) : (
              <button
                key={number}
                type="button"
                aria-label={t.page(formatCount(number))}
                aria-current={number === page ? "page" : undefined}
                onClick={() => onPage(number)}
                className="h-7 min-w-7 rounded-control px-1.5 text-13 hover:bg-sunk aria-[current]:bg-petrol-soft aria-[current]:font-semibold aria-[current]:text-petrol-2 max-md:hidden in-data-[dock]:hover:bg-on-dock/15 in-data-[dock]:aria-[current]:bg-on-dock/20 in-data-[dock]:aria-[current]:text-on-dock"
              >
                {formatCount(number)}
              </button>
            ),
          )}
          <Step label={t.next} icon="right" isOff={page >= last} onSelect={() => onPage(page + 1)} />
        </>
      )}
    </nav>
  );
}

function Step({ label, icon, isOff, onSelect }: { label: string; icon: "left" | "right"; isOff: boolean; onSelect: () => void }) {
  return (
    <button
      type="button"
      aria-label={label}
      aria-disabled={isOff || undefined}
      onClick={() => !isOff && onSelect()}
      className="grid h-7 min-w-7 place-items-center rounded-control hover:bg-sunk aria-disabled:opacity-40 coarse:size-11 in-data-[dock]:hover:bg-on-dock/15"
    >
      <Icon name={icon} />
    </button>
  );
}

/** First, last, and one to either side of the current; null for a gap. At most seven places, so that nothing jumps. */
export function pagesAround(page: number, last: number): readonly (number | null)[] {
  if (last <= 7) return Array.from({ length: last }, (_, index) => index + 1);
  if (page <= 4) return [1, 2, 3, 4, 5, null, last];
  if (page >= last - 3) return [1, null, last - 4, last - 3, last - 2, last - 1, last];
  return [1, null, page - 1, page, page + 1, null, last];
}
