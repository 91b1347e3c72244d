"use client";

import { useState } from "react";

import { Pager } from "@/components/ui/pager";
import type { ArchiveJob } from "@/lib/api";
import { operations as t } from "@/text";

import { JobTable } from "./job-table";
import { Answer, Panel } from "./panel";
import { LIMIT, useArchiveQueue } from "./use-operations";

/** What waits for the archiver. It goes by itself; nothing is to be done about it here. */
export function ArchiveQueuePanel() {
  const [page, setPage] = useState(1);
  const queue = useArchiveQueue(page);
  return (
    <Panel title={t.archive.queueTitle} facts={queue.data && t.archive.queueFacts(queue.data.total)}>
      <Answer of={queue}>
        {({ items, total }) => (
          <>
            {items.length > 0 && <JobTable jobs={items} reasonOf={reasonOf} />}
            {total > LIMIT && (
              <div className="flex px-4 py-2 text-13 text-ink-3">
                <Pager page={page} limit={LIMIT} total={total} onPage={setPage} />
              </div>
            )}
          </>
        )}
      </Answer>
    </Panel>
  );
}

const reasonOf = (job: ArchiveJob): string => job.problem ?? job.last_error ?? t.archive.fine;
