"use client";

import { Progress } from "@/components/ui/progress";
import { StatusBadge } from "@/components/ui/status-badge";
import type { Document } from "@/lib/api";
import { common, documents as t } from "@/text";

import { isWithoutVectors } from "./indexing";
import { mayHaveOldOne } from "./menu-plan";
import { stepOf } from "./steps";
import { stepWords } from "./step-words";
import { useCanRevert, useStanding } from "./use-standing";

const LINK = "shrink-0 rounded-mark font-semibold text-petrol underline decoration-petrol-line underline-offset-[3px] hover:decoration-current";

/** Shape, word, colour; beside a failed one its reason, beside a busy one its step and pages. The badge never shrinks. */
export function StatusCell({
  document,
  isGhost,
  mayManage,
  onUndo,
  onBringBack,
  onFailedReplacement,
}: {
  document: Document;
  isGhost: boolean;
  mayManage: boolean;
  onUndo: () => void;
  onBringBack: () => void;
  onFailedReplacement: () => void;
}) {
  const { status, progress } = useStanding(document);
  if (isGhost) {
    return (
      <Beside badge={<StatusBadge status="archived" />}>
        <button type="button" className={LINK} onClick={onUndo}>
          {common.undo}
        </button>
      </Beside>
    );
  }
  if (status === "pending" || status === "processing") {
    const step = stepOf(progress, status);
    const { word, figure } = stepWords(step);
    return (
      <Beside badge={<StatusBadge status={status} label={word} />}>
        {status === "processing" && <Progress label={`${word}: ${document.name}`} sent={1} read={step.fraction} className="w-14 shrink-0 max-md:hidden" />}
        <span className="truncate">{figure}</span>
      </Beside>
    );
  }
  if (status === "failed") {
    return (
      <Beside badge={<StatusBadge status="failed" />}>
        {mayManage && mayHaveOldOne(document) && <BringBack document={document} onBringBack={onBringBack} />}
        <span className="truncate max-lg:hidden" title={document.status_detail ?? undefined}>
          {document.status_detail}
        </span>
      </Beside>
    );
  }
  return (
    <Beside badge={<StatusBadge status={status} />}>
      {mayManage && document.failed_replacement && (
        <button type="button" className={LINK} onClick={onFailedReplacement}>
          {t.failedReplacement.link}
        </button>
      )}
      <Note document={document} isReread={progress?.purpose === "reread"} />
    </Beside>
  );
}

/** Beside a completed one: what still happens to it, or became of it. */
function Note({ document, isReread }: { document: Document; isReread: boolean }) {
  const words = isReread ? t.steps.readingAgain : isWithoutVectors(document) ? common.withoutVectors : handOverOf(document);
  return (
    <span className="truncate max-lg:hidden" title={words || undefined}>
      {words}
    </span>
  );
}

/** Only where the server says that there is something to bring back. */
function BringBack({ document, onBringBack }: { document: Document; onBringBack: () => void }) {
  if (!useCanRevert(document, true)) return null;
  return (
    <button type="button" className={LINK} onClick={onBringBack}>
      {t.bringBack.action}
    </button>
  );
}

function Beside({ badge, children }: { badge: React.ReactNode; children: React.ReactNode }) {
  return (
    <div className="flex min-w-0 items-center gap-2 text-12 text-ink-3">
      {badge}
      {children}
    </div>
  );
}

function handOverOf({ archive_status }: Document): string {
  if (archive_status === "archived") return t.inPaperless;
  if (archive_status === "pending") return t.onTheWay;
  return archive_status === "failed" ? t.handOverFailed : "";
}
