"use client";

import { formatCount, formatDay } from "@/lib/format";
import { operations as t } from "@/text";

import { Answer, Figure, Panel, spanOf } from "./panel";
import { useSavings } from "./use-operations";

/** What the organization was spared because it had the same contents before. For admins. */
export function SavingsPanel() {
  const savings = useSavings();
  const since = savings.data?.since;
  return (
    <Panel title={t.savings.title} facts={since && t.savings.since(formatDay(new Date(since), new Date()))}>
      <Answer of={savings}>
        {({ documents, seconds_saved: seconds }) =>
          documents === 0 ? (
            <p className="px-4 pb-4 text-13 text-ink-2">{t.savings.none}</p>
          ) : (
            <dl className="grid grid-cols-2 gap-4 px-4 pb-4">
              <Figure label={t.savings.documents}>{formatCount(documents)}</Figure>
              <Figure label={t.savings.time}>{spanOf(seconds)}</Figure>
            </dl>
          )
        }
      </Answer>
    </Panel>
  );
}
