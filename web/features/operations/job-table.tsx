"use client";

import Link from "next/link";
import type { ReactNode } from "react";

import { Size } from "@/components/ui/size";
import { Time } from "@/components/ui/time";
import { VisuallyHidden } from "@/components/ui/visually-hidden";
import { peopleView } from "@/features/people/people-view";
import { shortId } from "@/features/people/use-names";
import type { ArchiveJob } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { common, operations as t } from "@/text";

/** What a job is called here: the ends of its document's id, or of its contents' hash. Never a name. */
export const jobName = (job: ArchiveJob): string => shortId(job.document_id ?? job.sha256);

/** Hand-overs by their ids. `actions` where one can do something about them. */
export function JobTable({
  jobs,
  reasonOf,
  actions,
}: {
  jobs: readonly ArchiveJob[];
  reasonOf: (job: ArchiveJob) => string;
  actions?: (job: ArchiveJob) => ReactNode;
}) {
  const c = t.archive.columns;
  return (
    <table className="register md:[&_:is(th,td):first-child]:pl-4 [&_tbody_tr:last-child]:border-0 [&_tbody_tr:last-child_td]:border-0">
      <colgroup>
        <col className="w-[136px]" />
        <col className="w-[132px]" data-from="lg" />
        <col />
        <col className="w-[84px]" data-from="xl" />
        <col className="w-[64px]" data-from="lg" />
        <col className="w-[108px]" />
        {actions && <col className="w-[212px]" />}
      </colgroup>
      <thead>
        <tr>
          <th scope="col">{c.document}</th>
          <th scope="col" data-from="lg">
            {c.organization}
          </th>
          <th scope="col">{c.reason}</th>
          <th scope="col" data-from="xl" data-align="end">
            {c.size}
          </th>
          <th scope="col" data-from="lg" data-align="end">
            {c.tries}
          </th>
          <th scope="col">{c.since}</th>
          {actions && (
            <th scope="col">
              <VisuallyHidden>{c.actions}</VisuallyHidden>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr role="row" key={job.key} data-key={job.key}>
            <td role="cell" data-cell="name">
              <span className="font-proof text-12" title={job.document_id ?? job.key}>
                {jobName(job)}
              </span>
            </td>
            <td role="cell" data-from="lg">
              <Link href={peopleView.href("/people", { organization: job.organization_id })} className="font-proof text-12" title={job.organization_id}>
                {shortId(job.organization_id)}
              </Link>
            </td>
            <td role="cell" data-cell="status" title={reasonOf(job)} className="max-md:whitespace-normal!">
              {reasonOf(job)}
            </td>
            <td role="cell" data-from="xl" data-align="end">
              {job.size_bytes === null ? common.none : <Size bytes={job.size_bytes} />}
            </td>
            <td role="cell" data-from="lg" data-align="end">
              {job.retry_count === null ? common.none : formatCount(job.retry_count)}
            </td>
            <td role="cell" data-cell="fact">
              <Time at={job.since} />
            </td>
            {actions && (
              <td role="cell" data-cell="menu">
                {actions(job)}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
