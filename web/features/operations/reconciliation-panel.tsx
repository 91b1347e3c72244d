"use client";

import type { ReactNode } from "react";

import { CopyButton } from "@/components/ui/copy-button";
import { StatusBadge, type BadgeStatus } from "@/components/ui/status-badge";
import { Time } from "@/components/ui/time";
import type { Reconciliation } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { operations as t } from "@/text";

import { Answer, Panel, spanOf } from "./panel";
import { useReconciliation } from "./use-operations";

/** Bytes that people gave us are gone: no repair brings them back. */
const LOST = 2;
const TONES: Record<number, BadgeStatus> = { 0: "completed", 1: "warn", 2: "failed" };

/** Whether all stores agree, by the last comparison. */
export function ReconciliationPanel() {
  const latest = useReconciliation();
  const outcome = latest.data?.outcome;
  return (
    <Panel
      title={t.reconcile.title}
      aside={outcome !== undefined && <StatusBadge isChip status={TONES[outcome] ?? "warn"} label={t.reconcile.outcomes[outcome] ?? String(outcome)} />}
    >
      <Answer of={latest}>{(report) => (report ? <Report report={report} /> : <Never />)}</Answer>
    </Panel>
  );
}

function Report({ report }: { report: Reconciliation }) {
  const seconds = (new Date(report.ended_at).getTime() - new Date(report.began_at).getTime()) / 1000;
  const hasLeft = report.drift.some((drift) => drift.left > 0);
  return (
    <div className="px-4 pb-4 text-13">
      <dl>
        <Line label={t.reconcile.lastRun}>
          <Time at={report.ended_at} />
        </Line>
        <Line label={t.reconcile.took}>{spanOf(seconds)}</Line>
        <Line label={t.reconcile.mode}>{report.repair ? t.reconcile.modes.repair : t.reconcile.modes.look}</Line>
      </dl>
      {report.drift.length === 0 ? <p className="mt-2 text-ink-2">{t.reconcile.nothing}</p> : <DriftTable report={report} />}
      {report.outcome === LOST && <Command text={t.reconcile.lost} command={t.reconcile.lostCommand} />}
      {report.outcome !== LOST && hasLeft && <Command text={t.reconcile.toRepair} command={t.reconcile.repairCommand} />}
    </div>
  );
}

function DriftTable({ report }: { report: Reconciliation }) {
  const c = t.reconcile.columns;
  return (
    <table className="mt-3 w-full [&_td]:border-t [&_td]:border-line [&_td]:py-1 [&_th]:pb-1 [&_th]:text-12 [&_th]:font-semibold [&_th]:text-ink-3">
      <thead>
        <tr className="[&_th]:text-right">
          <th scope="col" className="text-left!">
            {c.store}
          </th>
          <th scope="col" className="text-left!">
            {c.kind}
          </th>
          <th scope="col">{c.found}</th>
          <th scope="col">{c.repaired}</th>
          <th scope="col">{c.left}</th>
        </tr>
      </thead>
      <tbody>
        {report.drift.map((drift) => (
          <tr key={`${drift.store} ${drift.kind}`}>
            <td>{t.reconcile.stores[drift.store] ?? drift.store}</td>
            <td>{t.reconcile.kinds[drift.kind] ?? drift.kind}</td>
            <td className="text-right">{formatCount(drift.found)}</td>
            <td className="text-right">{formatCount(drift.repaired)}</td>
            <td className={`text-right font-semibold ${drift.left ? "text-wax" : ""}`}>{formatCount(drift.left)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Never() {
  return (
    <div className="px-4 pb-4 text-13">
      <p className="text-ink-2">{t.reconcile.never}</p>
      <Command text={t.reconcile.type} command={t.reconcile.command} />
    </div>
  );
}

function Command({ text, command }: { text: string; command: string }) {
  return (
    <div className="mt-2 flex flex-wrap items-center gap-2 text-ink-3">
      <span>{text}</span>
      <code className="font-proof text-12 text-ink">{command}</code>
      <CopyButton size="small" value={command} />
    </div>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-3 border-b border-line py-[5px] last:border-0">
      <dt className="text-ink-3">{label}</dt>
      <dd className="text-right">{children}</dd>
    </div>
  );
}
