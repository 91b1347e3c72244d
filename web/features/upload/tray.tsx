"use client";

import { useEffect, useState } from "react";

import { Icon } from "@/components/ui/icons";
import { Progress } from "@/components/ui/progress";
import { formatCount } from "@/lib/format";
import { upload as t } from "@/text";

import type { UploadItem } from "./item";
import { TrayLine } from "./tray-line";
import { uploads } from "./uploads";
import { useAnnouncement } from "./use-announcement";
import { useUploadManners, useUploads } from "./use-uploads";

/** Of more files only those that failed, and a few that move, have a line; the rest is a number. */
const FEW = 20;
const MOST_FAILED = 40;
const MOST_MOVING = 6;

/** "Coming in": docked in the sidebar, a float on the rail, a strip above the bottom bar on narrow screens. */
export function UploadTray() {
  const items = useUploads();
  useUploadManners(items);
  const done = uploads.doneBefore + items.filter((item) => item.state.kind === "done").length;
  const failed = items.filter((item) => item.state.kind === "failed").length;
  const all = uploads.doneBefore + items.length;
  const announcement = useAnnouncement(done, failed, all);
  return (
    <>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      {items.length > 0 && <Tray items={items} done={done} failed={failed} all={all} />}
    </>
  );
}

function Tray({ items, done, failed, all }: { items: readonly UploadItem[]; done: number; failed: number; all: number }) {
  const [isFolded, setFolded] = useState(startsFolded);
  // Whatever needs an act is shown, also to those who folded the tray away.
  useEffect(() => {
    if (failed > 0) setFolded(false);
  }, [failed]);
  const shown = linesOf(items);
  const label = isFolded ? t.unfold : t.fold;
  return (
    <section className="tray" aria-label={t.label} data-folded={isFolded || undefined}>
      <button
        type="button"
        className="tray-head"
        aria-expanded={!isFolded}
        aria-label={`${t.title}: ${t.progressOf(formatCount(done), formatCount(all))}. ${label}`}
        onClick={() => setFolded(!isFolded)}
      >
        <span className="font-semibold">{t.title}</span>
        <span className="tray-bar">
          <Progress label={t.title} sent={all > 0 ? (done + failed) / all : 0} read={all > 0 ? done / all : 0} />
        </span>
        <span className="text-ink-3">{t.progressOf(formatCount(done), formatCount(all))}</span>
        <Icon name={isFolded ? "up" : "down"} size={14} className="ml-auto text-ink-3" />
      </button>
      {!isFolded && (
        <ul className="tray-lines">
          {shown.map((item) => (
            <TrayLine key={item.id} item={item} />
          ))}
          {items.length > shown.length && <li className="px-3 py-2 text-12 text-ink-3">{t.more(formatCount(items.length - shown.length))}</li>}
        </ul>
      )}
    </section>
  );
}

/** On small screens the tray would cover the work: its head says enough. */
const startsFolded = (): boolean => typeof window !== "undefined" && window.matchMedia("(max-width: 1119px)").matches;

/** What failed first, then what moves, then who waits. The order within is that of the drop. */
function linesOf(items: readonly UploadItem[]): readonly UploadItem[] {
  const failed: UploadItem[] = [];
  const moving: UploadItem[] = [];
  const waiting: UploadItem[] = [];
  for (const item of items) (item.state.kind === "failed" ? failed : item.state.kind === "queued" ? waiting : moving).push(item);
  if (items.length <= FEW) return [...failed, ...moving, ...waiting];
  // Files being sent change most; finished ones disappear on their own.
  const sending = moving.filter(({ state }) => state.kind !== "reading" && state.kind !== "done");
  return [...failed.slice(0, MOST_FAILED), ...(sending.length > 0 ? sending : moving).slice(0, MOST_MOVING)];
}
