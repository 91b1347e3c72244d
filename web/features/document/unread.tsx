"use client";

import { Banner } from "@/components/ui/banner";
import { Icon } from "@/components/ui/icons";
import { Progress } from "@/components/ui/progress";
import type { Document, DocumentPlace, Step } from "@/lib/api";
import { formatCount, formatDuration } from "@/lib/format";
import { useProgress } from "@/lib/use-live";
import { document as text } from "@/text";

import { ExplainPanel } from "./explain-panel";
import { useRuns } from "./use-document";

const t = text.processing;

/** In place of the pages while there are none: how far it is, or why it did not work and what can be done. */
export function Unread({ place, document }: { place: DocumentPlace; document: Document }) {
  const isFailed = document.status === "failed";
  return (
    <div className="min-h-0 flex-1 overflow-auto border-t border-line bg-sheet px-4 py-6 md:px-8 md:py-8">
      <div className="mx-auto max-w-[68ch]">
        {isFailed ? (
          <>
            <Banner tone="failed" title={text.failed.title} text={document.last_error ?? undefined} className="mb-2" />
            <p className="mb-6 text-13 text-ink-3">{text.failed.text}</p>
            <ExplainPanel place={place} />
          </>
        ) : (
          <Reading place={place} document={document} />
        )}
      </div>
    </div>
  );
}

function Reading({ place, document }: { place: DocumentPlace; document: Document }) {
  const progress = useProgress(document.id);
  const run = useRuns(place).data?.items[0];
  const isWaiting = document.status === "pending";
  const share = progress?.page && progress.pages ? progress.page / progress.pages : 0;
  return (
    <>
      <h2 className="font-doc text-18 font-semibold">{isWaiting ? t.waiting : t.reading}</h2>
      <p className="mt-1 text-13 text-ink-2">{t.text}</p>
      <Progress label={t.progress(document.name)} sent={1} read={isWaiting ? 0 : Math.max(0.03, share)} className="mt-4" />
      <p className="mt-1.5 flex justify-between text-12 text-ink-3">
        <span>{progress?.step ? stepName(progress.step) : ""}</span>
        <span>{progress?.page && progress.pages ? t.pages(formatCount(progress.page), formatCount(progress.pages)) : ""}</span>
      </p>
      {run && run.steps.length > 0 && (
        <ol aria-label={t.steps} className="mt-5">
          {run.steps.map((step) => (
            <StepLine key={`${step.name}${step.started_at}`} step={step} />
          ))}
        </ol>
      )}
    </>
  );
}

const names: Readonly<Record<string, string>> = t.stepNames;

const stepName = (step: string): string => names[step] ?? step;

function StepLine({ step }: { step: Step }) {
  const isDone = step.status === "success" || step.status === "skipped";
  const seconds = step.completed_at ? (Date.parse(step.completed_at) - Date.parse(step.started_at)) / 1000 : null;
  return (
    <li className="flex items-center gap-2 border-b border-line py-1.5 text-13">
      <Icon
        name={step.status === "failed" ? "alert" : isDone ? "check" : "running"}
        size={14}
        className={step.status === "failed" ? "text-wax" : isDone ? "text-st-completed" : "animate-turn text-st-processing"}
      />
      <span className="flex-1">{stepName(step.name)}</span>
      <span className="text-12 text-ink-3">{seconds === null ? t.stepStatus[step.status] : formatDuration(seconds)}</span>
    </li>
  );
}
