"use client";

import { Failure } from "@/components/ui/failure";
import { Icon } from "@/components/ui/icons";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import type { AllowedMove, DocumentPlace, Run } from "@/lib/api";
import { document as text } from "@/text";

import { useRuns } from "./use-document";
import { useExplanation } from "./use-history";

const t = text.explain;

/** Why the document is where it is, what can be done, and what cannot and why. */
export function ExplainPanel({ place }: { place: DocumentPlace }) {
  const { data, error, refetch } = useExplanation(place);
  const runs = useRuns(place).data?.items ?? [];
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) {
    return (
      <Skeleton className="flex flex-col gap-4 pt-2">
        <Bone width="90%" />
        <Bone width="70%" />
      </Skeleton>
    );
  }
  const moves = data.moves.filter((move) => !move.by.includes("muniment"));
  return (
    <>
      <Part title={t.why}>
        <p className="[overflow-wrap:anywhere]">{data.why}</p>
      </Part>
      {data.next.length > 0 && (
        <Part title={t.next}>
          <ul className="list-disc pl-4">
            {data.next.map((sentence) => (
              <li key={sentence}>
                <Sentence text={sentence} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Part title={t.moves}>
        <ul>
          {moves.map((move) => (
            <MoveLine key={move.move} move={move} />
          ))}
        </ul>
      </Part>
      {runs.length > 0 && (
        <Part title={t.runs}>
          <ul>
            {runs.map((run) => (
              <RunLine key={run.id} run={run} />
            ))}
          </ul>
        </Part>
      )}
    </>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  ...t.names,
  "replace/revert": t.names.revert,
  "replace/retry": t.names.retry_replacement,
  "replace/failed": t.names.discard_replacement,
};

/** The server names calls in backticks; here they are called as they are in the menus. */
function Sentence({ text: sentence }: { text: string }) {
  return sentence.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <strong key={index} className="font-semibold">
        {NAMES[part] ?? part}
      </strong>
    ),
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="mb-4 text-13">
      <h3 className="mb-1.5 text-12 font-semibold text-ink-3">{title}</h3>
      {children}
    </section>
  );
}

function MoveLine({ move }: { move: AllowedMove }) {
  return (
    <li className="flex gap-2 border-b border-line py-1.5">
      <Icon name={move.allowed ? "check" : "close"} size={14} className={`mt-0.5 ${move.allowed ? "text-st-completed" : "text-ink-3"}`} />
      <span className="min-w-0">
        <span className={move.allowed ? "font-medium" : "text-ink-2"}>{t.names[move.move]}</span>
        <span className="block text-12 text-ink-3 [overflow-wrap:anywhere]">{move.allowed ? t.allowed : (move.reason ?? t.byWhom(move.by.join(", ")))}</span>
      </span>
    </li>
  );
}

function RunLine({ run }: { run: Run }) {
  return (
    <li className="border-b border-line py-1.5">
      <p className="flex justify-between gap-2">
        <span>{t.run[run.purpose]}</span>
        <span className={run.status === "failed" ? "text-wax" : "text-ink-3"}>{t.runStatus[run.status]}</span>
      </p>
      <p className="flex justify-between gap-2 text-12 text-ink-3">
        <Time at={run.ended_at ?? run.created_at} />
        {run.attempt > 1 && <span>{t.attempt(run.attempt)}</span>}
      </p>
      {run.error && <p className="text-12 text-ink-2 [overflow-wrap:anywhere]">{run.error.message}</p>}
    </li>
  );
}
