import { useId, type ReactNode } from "react";

import { classNames } from "@/components/ui/class-names";
import { Failure } from "@/components/ui/failure";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import { formatDuration } from "@/lib/format";
import { operations as t } from "@/text";

/** How long something took. Nothing took no time. */
export const spanOf = (seconds: number): string => (seconds < 1 ? t.lessThanASecond : formatDuration(seconds));

/** One region of the page with its own head, and its own failure: a store that is away hides no other. */
export function Panel({
  title,
  facts,
  aside,
  children,
  className,
}: {
  title: string;
  facts?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={classNames("flex min-w-0 flex-col rounded-sheet border border-line", className)}>
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 px-4 pt-3 pb-2">
        <h2 id={id} className="text-16 font-semibold">
          {title}
        </h2>
        {facts && <p className="text-13 text-ink-3">{facts}</p>}
        <span className="flex-1" />
        {aside}
      </div>
      {children}
    </section>
  );
}

/** What came, bones until then, or why not. */
export function Answer<Data>({
  of: { data, error, refetch },
  children,
}: {
  of: { data: Data | undefined; error: unknown; refetch: () => unknown };
  children: (data: Data) => ReactNode;
}) {
  if (data !== undefined) return children(data);
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <Skeleton className="grid gap-3 px-4 pt-2 pb-5">
      {["80%", "60%", "70%"].map((width) => (
        <Bone key={width} width={width} />
      ))}
    </Skeleton>
  );
}

/** A figure in the document's voice, under its name. */
export function Figure({ label, children, unit }: { label: string; children: ReactNode; unit?: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-12 whitespace-nowrap text-ink-3">{label}</dt>
      <dd className="font-doc text-[24px] leading-[30px] font-semibold">
        {children}
        {unit && <small className="font-ui text-13 font-normal text-ink-3"> {unit}</small>}
      </dd>
    </div>
  );
}
