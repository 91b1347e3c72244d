"use client";

import { useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button, IconButton } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Pager } from "@/components/ui/pager";
import { showToast } from "@/components/ui/toast-store";
import type { ArchiveJob } from "@/lib/api";
import { common, operations as t } from "@/text";

import { jobName, JobTable } from "./job-table";
import { Answer, Panel } from "./panel";
import { LIMIT, useDeadLetters, useLetterActs } from "./use-operations";

/** What the archiver has given up: back into the queue when the cause is gone, or away for good. */
export function DeadLettersPanel() {
  const [page, setPage] = useState(1);
  const [discarded, setDiscarded] = useState<ArchiveJob | null>(null);
  const letters = useDeadLetters(page);
  const { requeue, discard } = useLetterActs();
  const putBack = (job: ArchiveJob) =>
    requeue.mutate(job.key, { onSuccess: () => showToast({ text: t.archive.requeued(jobName(job)), icon: "retry" }) });
  const throwAway = async (job: ArchiveJob) => {
    await discard.mutateAsync(job.key);
    showToast({ text: t.archive.discarded(jobName(job)), icon: "trash" });
  };
  return (
    <Panel title={t.archive.lettersTitle} facts={letters.data && t.archive.lettersFacts(letters.data.total)}>
      {requeue.error && (
        <Banner
          tone="failed"
          {...sentencesOf(requeue.error)}
          className="mx-4 mb-3"
          action={<IconButton label={common.dismiss} icon="close" size="small" tooltip={false} onClick={requeue.reset} />}
        />
      )}
      <Answer of={letters}>
        {({ items, total }) => (
          <>
            {items.length > 0 && (
              <JobTable
                jobs={items}
                reasonOf={reasonOf}
                actions={(job) => (
                  <span className="inline-flex flex-wrap justify-end gap-1.5">
                    <Button
                      size="small"
                      icon="retry"
                      aria-label={t.archive.requeueFor(jobName(job))}
                      isBusy={requeue.isPending && requeue.variables === job.key}
                      onClick={() => putBack(job)}
                    >
                      {t.archive.requeue}
                    </Button>
                    <Button size="small" kind="wax-outline" aria-label={t.archive.discardFor(jobName(job))} onClick={() => setDiscarded(job)}>
                      {t.archive.discard}
                    </Button>
                  </span>
                )}
              />
            )}
            {total > LIMIT && (
              <div className="flex px-4 py-2 text-13 text-ink-3">
                <Pager page={page} limit={LIMIT} total={total} onPage={setPage} />
              </div>
            )}
          </>
        )}
      </Answer>
      {discarded && (
        <ConfirmDialog
          isOpen
          isDestructive
          onClose={() => setDiscarded(null)}
          question={t.archive.discardQuestion(jobName(discarded))}
          action={t.archive.discardAction}
          onConfirm={() => throwAway(discarded)}
        >
          <p>{t.archive.discardText}</p>
          <p className="mt-2 font-proof text-12 text-ink-3 [overflow-wrap:anywhere]">{discarded.key}</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

const reasonOf = (job: ArchiveJob): string => job.problem ?? job.last_error ?? t.archive.noReason;
