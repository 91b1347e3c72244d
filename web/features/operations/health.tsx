"use client";

import { Fragment } from "react";

import { Banner } from "@/components/ui/banner";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Icon } from "@/components/ui/icons";
import { Bone, Skeleton } from "@/components/ui/skeleton";
import type { Readiness } from "@/lib/api";
import { operations as t } from "@/text";

import { useReadiness } from "./use-operations";

const ORDER = ["database", "blobs", "index", "queue", "tasks", "disk"];

/** Part by part, well or not, in the server's own words. */
export function Health() {
  const { data, error } = useReadiness();
  if (error) return <Banner tone="failed" {...sentencesOf(error)} className="mx-4 mb-3 md:mx-6" />;
  const checks = Object.entries(data?.checks ?? {}).sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
  return (
    <ul aria-label={t.health.label} aria-busy={!data} className="grid grid-cols-2 border-y border-line bg-sunk px-2 md:grid-cols-3 md:px-3.5 lg:grid-cols-6">
      {!data && ORDER.map((name) => <Waiting key={name} />)}
      {checks.map(([name, check]) => (
        <Part key={name} name={name} check={check} />
      ))}
    </ul>
  );
}

function Part({ name, check }: { name: string; check: Readiness["checks"][string] }) {
  const isOk = check.status === "ok";
  return (
    <li className="min-w-0 px-2.5 pt-2.5 pb-[11px] lg:not-first:border-l lg:not-first:border-line">
      <span className="block text-12 font-semibold text-ink-3">{t.health.parts[name] ?? name}</span>
      <span className={`my-0.5 flex items-center gap-1.5 text-13 font-semibold ${isOk ? "" : "text-wax"}`}>
        <Icon name={isOk ? "check" : "alert"} size={14} className={isOk ? "text-st-completed" : ""} />
        {isOk ? t.health.ok : t.health.failed}
      </span>
      <span className="block text-12 text-ink-3 [overflow-wrap:anywhere]">
        <WithCommands text={check.detail} />
      </span>
    </li>
  );
}

/** What stands between backticks is to be typed. */
function WithCommands({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 1 ? (
      <code key={index} className="font-proof text-ink">
        {part}
      </code>
    ) : (
      <Fragment key={index}>{part}</Fragment>
    ),
  );
}

function Waiting() {
  return (
    <li className="px-2.5 pt-2.5 pb-[11px]">
      <Skeleton className="grid gap-2">
        <Bone width="60%" />
        <Bone width="40%" />
        <Bone width="80%" />
      </Skeleton>
    </li>
  );
}
