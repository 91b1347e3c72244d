"use client";

import { useState } from "react";

import { formatCount } from "@/lib/format";
import { operations as t } from "@/text";

import { HoursChart, HoursTable } from "./hours-chart";
import { Answer, Figure, Panel } from "./panel";
import { useProcessing } from "./use-operations";

export function ProcessingPanel({ className }: { className?: string }) {
  const numbers = useProcessing();
  const [isTable, setTable] = useState(false);
  return (
    <Panel
      title={t.processing.title}
      {...(className ? { className } : {})}
      facts={<Legend />}
      aside={
        <button
          type="button"
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
          className="min-h-7 rounded-mark text-13 text-petrol underline decoration-petrol-line underline-offset-[3px] coarse:min-h-11"
        >
          {isTable ? t.processing.asChart : t.processing.asTable}
        </button>
      }
    >
      <Answer of={numbers}>
        {({ hours, done_last_day: done, failed_last_day: failed }) => (
          <div className="px-4 pb-3">
            {isTable ? <HoursTable hours={hours} /> : <HoursChart hours={hours} />}
            {done + failed === 0 && <p className="mt-1 text-13 text-ink-3">{t.processing.quiet}</p>}
          </div>
        )}
      </Answer>
    </Panel>
  );
}

function Legend() {
  return (
    <span className="flex gap-3">
      <span className="inline-flex items-center gap-1.5">
        <i aria-hidden="true" className="size-2.5 rounded-[2px] bg-petrol-fill" />
        {t.processing.done}
      </span>
      <span className="inline-flex items-center gap-1.5">
        <i aria-hidden="true" className="size-2.5 rounded-[2px] bg-wax" />
        {t.processing.failed}
      </span>
    </span>
  );
}

export function QueuePanel() {
  const numbers = useProcessing();
  return (
    <Panel title={t.processing.queue}>
      <Answer of={numbers}>
        {(queue) => (
          <dl className="grid grid-cols-2 gap-x-4 gap-y-3 px-4 pb-4">
            <Figure label={t.processing.atWork}>{formatCount(queue.running)}</Figure>
            <Figure label={t.processing.waiting}>{formatCount(queue.waiting)}</Figure>
            <Figure label={t.processing.doneDay} unit={t.processing.lastDay}>
              {formatCount(queue.done_last_day)}
            </Figure>
            <Figure label={t.processing.failedDay} unit={t.processing.lastDay}>
              <span className={queue.failed_last_day ? "text-wax" : ""}>{formatCount(queue.failed_last_day)}</span>
            </Figure>
          </dl>
        )}
      </Answer>
    </Panel>
  );
}
