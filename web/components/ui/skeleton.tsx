import { common } from "@/text";

import { classNames } from "./class-names";

/** One bone. `width` as CSS: `60%`, `120px`. */
export function Bone({ width, className }: { width: string; className?: string }) {
  return <span aria-hidden="true" className={classNames("bone", className)} style={{ width }} />;
}

/** Bones in place of what loads, from the 150th millisecond on. Give it the height and columns of what comes. */
export function Skeleton({ children, className }: { children: React.ReactNode; className?: string }) {
  return (
    <div role="status" aria-busy="true" className={classNames("late", className)}>
      <span className="sr-only">{common.loading}</span>
      {children}
    </div>
  );
}

const WIDTHS = ["52%", "38%", "61%", "44%", "57%", "33%", "48%", "40%"];

/** Rows of a register that has not come yet. */
export function SkeletonRows({ rows = 8 }: { rows?: number }) {
  return (
    <Skeleton>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="flex h-row items-center gap-4 border-b border-line px-6">
          <Bone width="14px" className="h-3.5" />
          <span className="flex-1">
            <Bone width={WIDTHS[index % WIDTHS.length] ?? "50%"} />
          </span>
          <Bone width="90px" className="max-md:hidden" />
          <Bone width="52px" />
        </div>
      ))}
    </Skeleton>
  );
}

/** Head and rows: a page that has not come yet. */
export function PageSkeleton() {
  return (
    <Skeleton className="flex flex-col">
      <div className="flex flex-col gap-3 px-4 pt-6 pb-5 md:px-6">
        <Bone width="90px" className="h-2" />
        <Bone width="260px" className="h-5" />
        <Bone width="180px" className="h-2.5" />
      </div>
      <SkeletonRows />
    </Skeleton>
  );
}

/** Later loads keep the old rows; this thin bar under the head says that newer ones are on their way. */
export function LoadingBar({ isOn }: { isOn: boolean }) {
  return (
    <div aria-hidden="true" className="relative h-0">
      {isOn && <div className="late absolute inset-x-0 top-0 z-[2] h-0.5 animate-pulse bg-petrol" />}
    </div>
  );
}
