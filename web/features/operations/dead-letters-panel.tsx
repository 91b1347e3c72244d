"use client";

import { useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button, IconButton } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Menu, MenuItem } from "@/components/ui/menu";
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
  const putBack = (job: ArchiveJob) => requeue.mutate(job.key, { onSuccess: () => showToast({ text: t.archive.requeued(jobName(job)), icon: "retry" }) });
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
                  <LetterActs job={job} isBusy={requeue.isPending && requeue.variables === job.key} onRequeue={putBack} onDiscard={setDiscarded} />
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

type Act = (job: ArchiveJob) => void;

/** Two buttons where there is room, a menu where there is none. */
function LetterActs({ job, isBusy, onRequeue, onDiscard }: { job: ArchiveJob; isBusy: boolean; onRequeue: Act; onDiscard: Act }) {
  const name = jobName(job);
  return (
    <>
      <span className="inline-flex gap-1.5 max-md:hidden">
        <Button size="small" icon="retry" aria-label={t.archive.requeueFor(name)} isBusy={isBusy} onClick={() => onRequeue(job)}>
          {t.archive.requeue}
        </Button>
        <Button size="small" kind="wax-outline" aria-label={t.archive.discardFor(name)} onClick={() => onDiscard(job)}>
          {t.archive.discard}
        </Button>
      </span>
      <span className="md:hidden">
        <Menu trigger={<IconButton label={t.archive.actionsFor(name)} icon="more" size="small" tooltip={false} />}>
          <MenuItem icon="retry" onSelect={() => onRequeue(job)}>
            {t.archive.requeue}
          </MenuItem>
          <MenuItem icon="trash" isWax onSelect={() => onDiscard(job)}>
            {t.archive.discard}
          </MenuItem>
        </Menu>
      </span>
    </>
  );
}

const reasonOf = (job: ArchiveJob): string => job.problem ?? job.last_error ?? t.archive.noReason;
