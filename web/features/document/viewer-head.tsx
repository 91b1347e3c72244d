"use client";

import Link from "next/link";
import type { ReactNode } from "react";

import { buttonClass } from "@/components/ui/button";
import { Icon } from "@/components/ui/icons";
import { Name } from "@/components/ui/name";
import { Size } from "@/components/ui/size";
import { StatusBadge } from "@/components/ui/status-badge";
import { Time } from "@/components/ui/time";
import { useTitle } from "@/components/shell/sheet-head";
import { downloadUrl, type Document, type DocumentPlace } from "@/lib/api";
import { isWithoutVectors } from "@/features/documents/indexing";
import { hrefOfKnowledgeBase } from "@/lib/hrefs";
import { common, document as t } from "@/text";

/** Where the document belongs, its name and state, and what can be done with it. */
export function ViewerHead({ place, document, kbName, actions }: { place: DocumentPlace; document: Document; kbName: string | null; actions?: ReactNode }) {
  useTitle(document.name);
  const up = hrefOfKnowledgeBase(place.kbId);
  return (
    <header className="flex min-h-[60px] shrink-0 items-center gap-1 px-1 py-2 md:gap-3 md:py-2.5 md:pr-4 md:pl-2.5">
      <Link
        href={up}
        aria-label={kbName ? t.back(kbName) : t.backPlain}
        className="grid size-control shrink-0 place-items-center rounded-control text-ink hover:bg-sunk coarse:min-h-11 coarse:min-w-11"
      >
        <Icon name="left" />
      </Link>
      <div className="min-w-0 flex-1">
        <p className="flex min-w-0 items-center gap-1.5 text-12 whitespace-nowrap text-ink-3">
          <Link href={up} className="min-w-[4ch] truncate text-ink-3 no-underline hover:text-petrol hover:underline">
            <bdi>{kbName}</bdi>
          </Link>
          <Facts document={document} />
        </p>
        <div className="flex min-w-0 items-center gap-3">
          <h1 className="min-w-0 font-doc text-[17px] leading-[22px] font-semibold md:text-[19px] md:leading-6">
            <Name name={document.name} />
          </h1>
          {/* Quiet when well: on a phone the name needs the room. */}
          <span className={document.status === "completed" ? "max-md:hidden" : ""}>
            <StatusBadge status={document.status} isChip />
          </span>
          {isWithoutVectors(document) && (
            <span className="min-w-0 flex-1 truncate text-12 text-ink-3 max-lg:hidden" title={common.withoutVectors}>
              {common.withoutVectors}
            </span>
          )}
        </div>
      </div>
      <div className="flex shrink-0 items-center gap-2">
        <a href={downloadUrl(place)} className={`${buttonClass()} max-md:hidden`}>
          <Icon name="download" />
          {t.download}
        </a>
        {actions}
      </div>
    </header>
  );
}

function Facts({ document }: { document: Document }) {
  return (
    <span className="hidden min-w-0 shrink-[2] truncate md:inline">
      {document.total_pages !== null && <>· {t.pageCount(document.total_pages)} </>}· <Size bytes={document.file_size} /> · {t.added}{" "}
      <Time at={document.created_at} />
      {document.uploaded_by_email && (
        <>
          {" "}
          {t.by} {document.uploaded_by_email}
        </>
      )}
    </span>
  );
}
