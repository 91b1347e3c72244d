"use client";

import { formatCount, formatSize } from "@/lib/format";
import { operations as t } from "@/text";

import { Answer, Figure, Panel } from "./panel";
import { useUsage } from "./use-operations";

/** What the organization uses of its quotas. For admins. */
export function UsagePanel({ organizationId }: { organizationId: string }) {
  const usage = useUsage(organizationId);
  return (
    <Panel title={t.usage.title} facts={t.usage.facts}>
      <Answer of={usage}>
        {({ bytes, documents, queued_runs: queued }) => (
          <dl className="grid grid-cols-3 gap-4 px-4 pb-4">
            <Figure label={t.usage.bytes} unit={limitOf(bytes, formatSize)}>
              {formatSize(bytes.used)}
            </Figure>
            <Figure label={t.usage.documents} unit={limitOf(documents, formatCount)}>
              {formatCount(documents.used)}
            </Figure>
            <Figure label={t.usage.queued} unit={limitOf(queued, formatCount)}>
              {formatCount(queued.used)}
            </Figure>
          </dl>
        )}
      </Answer>
    </Panel>
  );
}

/** Nothing where there is no limit. */
const limitOf = ({ limit }: { limit: number | null }, format: (value: number) => string): string => (limit === null ? "" : t.usage.of(format(limit)));
