"use client";

import { Size } from "@/components/ui/size";
import { StatusBadge } from "@/components/ui/status-badge";
import { Time } from "@/components/ui/time";
import { stepOf } from "@/features/documents/steps";
import { stepWords } from "@/features/documents/step-words";
import type { Document } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { useProgress } from "@/lib/use-live";
import { common, duplicate as t } from "@/text";

const YOURS = "bg-petrol-soft px-3";
const TH = "py-1.5 pr-3 text-left align-top font-normal whitespace-nowrap text-ink-3";

/** Already here, and the person's own file: what can be compared before anything is sent. */
export function SideBySide({ existing, file }: { existing: Document; file: File }) {
  const changed = new Date(file.lastModified).toISOString();
  return (
    <table className="w-full border-collapse text-13 text-ink [&_td]:py-1.5 [&_td]:align-top [&_tbody_tr+tr>*]:border-t [&_tbody_tr+tr>*]:border-line">
      <thead>
        <tr>
          <td />
          <th scope="col" className={`${TH} font-semibold`}>
            {t.already}
          </th>
          <th scope="col" className={`rounded-t-control py-1.5 text-left font-semibold text-petrol-2 ${YOURS}`}>
            {t.yours}
          </th>
        </tr>
      </thead>
      <tbody>
        <Line name={t.rows.status} here={<ExistingStatus document={existing} />} yours={t.notUploaded} isDim />
        <Line name={t.rows.size} here={<Size bytes={existing.file_size} />} yours={<Size bytes={file.size} />} />
        <Line
          name={t.rows.date}
          here={
            <>
              {existing.archived_at ? t.archived : t.added} <Time at={existing.archived_at ?? existing.created_at} />
            </>
          }
          yours={
            <>
              {t.changed} <Time at={changed} />
            </>
          }
        />
        <Line name={t.rows.pages} here={existing.total_pages === null ? common.none : formatCount(existing.total_pages)} yours={t.notRead} isDim />
      </tbody>
    </table>
  );
}

function Line({ name, here, yours, isDim = false }: { name: string; here: React.ReactNode; yours: React.ReactNode; isDim?: boolean }) {
  return (
    <tr>
      <th scope="row" className={TH}>
        {name}
      </th>
      <td className="pr-3">{here}</td>
      <td className={`${YOURS} ${isDim ? "text-ink-3" : ""}`}>{yours}</td>
    </tr>
  );
}

function ExistingStatus({ document }: { document: Document }) {
  const progress = useProgress(document.id);
  const isAtWork = document.status === "pending" || document.status === "processing";
  if (!isAtWork) return <StatusBadge status={document.status} isChip />;
  const { word, figure } = stepWords(stepOf(progress, document.status));
  return <StatusBadge status={document.status} isChip label={figure ? `${word} ${figure}` : word} />;
}
