"use client";

import Link from "next/link";

import { Banner } from "@/components/ui/banner";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Failure } from "@/components/ui/failure";
import { Icon } from "@/components/ui/icons";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { usePerson } from "@/features/session/signed-in";
import type { Document, DocumentPlace, Standing } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { document as text } from "@/text";

import { About } from "./about";
import { HandOver } from "./hand-over";
import { sealsOf, type Entry, type Tone } from "./timeline";
import { useActors, useHistory, useVerify } from "./use-history";

const t = text.history;

const RINGS: Record<Tone, string> = {
  pending: "border-st-pending",
  processing: "border-st-processing",
  completed: "border-st-completed",
  failed: "border-wax",
  archived: "border-st-archived",
  change: "border-petrol",
};

export function HistoryPanel({ place, document, standing }: { place: DocumentPlace; document: Document; standing: Standing }) {
  const { entries, hasMore, mayRead, error, retry } = useHistory(place, document, standing);
  return (
    <>
      <HandOver document={document} />
      <About document={document} />
      <h3 className="mt-4 mb-3 text-12 font-semibold text-ink-3">{t.heading}</h3>
      {entries && <Timeline entries={entries} document={document} />}
      {!entries && error && <Failure error={error} onRetry={retry} />}
      {!entries && !error && <TimelineBones />}
      {entries && mayRead && <Seals entries={entries} documentId={document.id} hasMore={hasMore} />}
      {entries && !mayRead && <p className="mt-3.5 border-t border-line pt-3 text-12 text-ink-3">{t.notAll}</p>}
    </>
  );
}

function Timeline({ entries, document }: { entries: readonly Entry[]; document: Document }) {
  const me = usePerson();
  const emailOf = useActors(document);
  if (entries.length === 0) return <p className="text-13 text-ink-3">{t.empty}</p>;
  const nameOf = (actor: string) => (actor === me.id ? t.you : actor === "system" ? t.system : (emailOf(actor) ?? t.somebody));
  return (
    <ol className="relative flex flex-col gap-3.5 before:absolute before:top-2 before:bottom-3 before:left-[4px] before:w-px before:bg-line-2">
      {entries.map((entry) => (
        <li key={entry.id} className="relative pl-6 text-13">
          <span aria-hidden="true" className={`absolute top-[5px] left-0 size-[9px] rounded-full border-2 bg-sheet ${RINGS[entry.tone]}`} />
          <p className="[overflow-wrap:anywhere]">
            <strong className="font-semibold">{entry.verb}</strong>
            {entry.rest && (entry.rest.startsWith(":") ? entry.rest : ` ${entry.rest}`)}
          </p>
          <p className="flex items-baseline justify-between gap-2 text-12 text-ink-3">
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <Time at={entry.at} />
              {entry.actor && <> · {nameOf(entry.actor)}</>}
            </span>
            {entry.seal && (
              <span className={`shrink-0 ${entry.seal.seq === null ? "" : "font-proof"}`}>
                {entry.seal.seq === null ? t.notSealed : t.seal(formatCount(entry.seal.seq))}
              </span>
            )}
          </p>
        </li>
      ))}
    </ol>
  );
}

function Seals({ entries, documentId, hasMore }: { entries: readonly Entry[]; documentId: string; hasMore: boolean }) {
  const me = usePerson();
  const verify = useVerify();
  const { lines, sealed } = sealsOf(entries);
  const verdict = verify.data;
  return (
    <div className="mt-3.5 flex flex-col gap-2 border-t border-line pt-3 text-12 text-ink-3">
      <p className="flex flex-wrap items-center gap-x-1.5">
        <Icon name="seal" size={14} className={sealed === lines ? "text-st-completed" : ""} />
        {sealed === lines ? t.allSealed(lines) : t.someSealed(sealed, lines)}
        {me.is_admin && (
          <button
            type="button"
            disabled={verify.isPending}
            onClick={() => verify.mutate()}
            className="min-h-6 text-petrol underline decoration-petrol-line underline-offset-[3px] hover:decoration-current"
          >
            {verify.isPending ? t.verifying : t.verify}
          </button>
        )}
      </p>
      {verdict && (
        <Banner tone={verdict.is_intact ? "info" : "failed"} title={verdict.is_intact ? t.intact(verdict.events) : t.broken(verdict.problem_count)} />
      )}
      {verify.isError && <Banner tone="failed" {...sentencesOf(verify.error)} />}
      {hasMore && <Link href={`/audit?document=${encodeURIComponent(documentId)}`}>{t.more}</Link>}
    </div>
  );
}

function TimelineBones() {
  return (
    <Skeleton className="flex flex-col gap-5">
      {["70%", "55%", "62%"].map((width) => (
        <Bone key={width} width={width} />
      ))}
    </Skeleton>
  );
}
