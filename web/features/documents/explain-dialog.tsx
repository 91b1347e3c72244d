"use client";

import { useQuery } from "@tanstack/react-query";

import { Dialog } from "@/components/ui/dialog";
import { Failure } from "@/components/ui/failure";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { StatusBadge } from "@/components/ui/status-badge";
import { withName } from "@/components/ui/with-name";
import type { AllowedMove, Document, Explanation } from "@/lib/api";
import { documents } from "@/text";

import { explanationOf } from "./use-standing";

const t = documents.explain;
const WORDS: Readonly<Record<string, string>> = t.moves;

/** Why a document is where it is, what can be done, and what is in the way of the rest. */
export function ExplainDialog({ document, onClose }: { document: Document; onClose: () => void }) {
  const { data, error, refetch } = useQuery(explanationOf(document));
  return (
    <Dialog isOpen onClose={onClose} title={withName(t.title, document.name)} hasCloseButton>
      {data ? <Explained explanation={data} /> : error ? <Failure error={error} onRetry={() => void refetch()} /> : <Bones />}
    </Dialog>
  );
}

function Explained({ explanation }: { explanation: Explanation }) {
  const refused = explanation.moves.filter(({ move, allowed, reason }) => !allowed && reason !== null && move in WORDS);
  return (
    <div className="grid gap-4">
      <div className="grid justify-items-start gap-2">
        <StatusBadge status={explanation.status} isChip />
        <p className="text-ink [overflow-wrap:anywhere]">{explanation.why}</p>
      </div>
      <section>
        <h3 className="mb-1.5 text-13 font-semibold text-ink">{t.next}</h3>
        {explanation.next.length === 0 ? (
          <p>{t.nothing}</p>
        ) : (
          <ul className="grid gap-1">
            {explanation.next.map((sentence) => (
              <li key={sentence}>{plainly(sentence)}</li>
            ))}
          </ul>
        )}
      </section>
      {refused.length > 0 && <Refused moves={refused} />}
    </div>
  );
}

function Refused({ moves }: { moves: readonly AllowedMove[] }) {
  return (
    <section>
      <h3 className="mb-1.5 text-13 font-semibold text-ink">{t.inTheWay}</h3>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-13">
        {moves.map(({ move, reason }) => (
          <div key={move} className="contents">
            <dt className="text-ink">{WORDS[move]}</dt>
            <dd>{reason}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The server names its moves for programs, as `code`; people read the word of the menu. */
function plainly(sentence: string): string {
  return sentence.replace(/ with `([a-z/]+)`/g, "");
}

function Bones() {
  return (
    <Skeleton className="grid gap-3 py-2">
      {["80px", "90%", "64%", "70%"].map((width) => (
        <Bone key={width} width={width} />
      ))}
    </Skeleton>
  );
}
