"use client";

import Link from "next/link";

import { classNames } from "@/components/ui/class-names";
import { Icon } from "@/components/ui/icons";
import { Name } from "@/components/ui/name";
import { Progress } from "@/components/ui/progress";
import { hrefOfDocument } from "@/lib/hrefs";
import { useProgress } from "@/lib/use-live";
import { upload as t } from "@/text";

import { isUnsent, type UploadItem } from "./item";
import { wordsOf } from "./line-words";
import { bringOldBack, readAgain, replaceAgain, uploads } from "./uploads";

const LINK = "rounded-mark text-petrol underline decoration-petrol-line underline-offset-[3px] hover:decoration-current";

/** One file: its name, one bar with two passes, what happens with a figure, and what can be done about it. */
export function TrayLine({ item }: { item: UploadItem }) {
  const progress = useProgress(item.documentId ?? "");
  const { words, figure, sent, read, tone } = wordsOf(item, progress);
  const { name } = item.file;
  const isBad = tone === "failed";
  return (
    <li className="border-b border-line px-3 pt-2 pb-[9px] last:border-0" data-state={item.state.kind}>
      <div className="flex items-center gap-1.5 text-13">
        <Name name={name} className="flex-1" />
        <button
          type="button"
          aria-label={isUnsent(item) ? t.cancel(name) : t.hide(name)}
          onClick={() => uploads.drop(item.id)}
          className="-my-1 -mr-1.5 grid size-6 shrink-0 place-items-center rounded-mark text-ink-3 hover:bg-sunk hover:text-ink coarse:size-11"
        >
          <Icon name="close" size={12} />
        </button>
      </div>
      <Progress label={`${words}: ${name}`} sent={sent} read={read} tone={tone} className="mt-[5px] mb-1" />
      <div className="flex flex-wrap items-baseline justify-between gap-x-2 text-12 text-ink-3" {...(isBad ? { role: "alert" } : {})}>
        <span
          className={classNames(
            "min-w-0 flex-[1_1_108px] [overflow-wrap:anywhere]",
            isBad && "line-clamp-4 text-wax",
            tone === "done" && "text-st-completed",
            tone === "paused" && "text-st-warn",
          )}
        >
          {words}
        </span>
        <span className="shrink-0 whitespace-nowrap">{figure || <Action item={item} />}</span>
      </div>
    </li>
  );
}

function Action({ item }: { item: UploadItem }) {
  if (item.state.kind === "done" && item.documentId) {
    return (
      <Link className={LINK} href={hrefOfDocument({ kbId: item.kbId, documentId: item.documentId })}>
        {t.open}
      </Link>
    );
  }
  if (item.state.kind !== "failed") return null;
  const [words, act] = remedyOf(item, item.state.during);
  return (
    <button type="button" className={LINK} onClick={act}>
      {words}
    </button>
  );
}

function remedyOf(item: UploadItem, during: "sending" | "reading" | "replacing"): [string, () => void] {
  if (during === "sending") return [t.retry, () => uploads.again(item.id)];
  if (during === "replacing") return [t.retry, () => void replaceAgain(item)];
  return item.replaces ? [t.bringBack, () => void bringOldBack(item)] : [t.retry, () => void readAgain(item)];
}
