"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { Button } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { ErrorBoundary } from "@/components/ui/error-boundary";
import { operates, seesOperations } from "@/features/session/rights";
import { usePerson } from "@/features/session/signed-in";
import { operations as t } from "@/text";

import { ArchiveQueuePanel } from "./archive-queue-panel";
import { DeadLettersPanel } from "./dead-letters-panel";
import { Health } from "./health";
import { ProcessingPanel, QueuePanel } from "./processing-panel";
import { ReconciliationPanel } from "./reconciliation-panel";
import { SavingsPanel } from "./savings-panel";
import { UsagePanel } from "./usage-panel";
import { useLookAgain, useReadiness } from "./use-operations";

/** Operators see the installation, admins what their organization was spared; both how the parts are. */
export function OperationsPage() {
  const me = usePerson();
  if (!seesOperations(me)) {
    return (
      <>
        <SheetHead title={t.title} />
        <Empty icon="lock" {...t.notAllowed} />
      </>
    );
  }
  return (
    <>
      <SheetHead title={t.title} facts={operates(me) ? t.facts : t.factsAdmin} actions={<LookAgain />} />
      <Health />
      <div className="grid gap-3.5 p-3 md:px-6 md:pt-4 md:pb-6 lg:grid-cols-[minmax(0,1fr)_328px]">
        {operates(me) && (
          <>
            <ErrorBoundary>
              <ProcessingPanel />
            </ErrorBoundary>
            <QueuePanel />
            <div className="lg:col-span-2">
              <DeadLettersPanel />
            </div>
            <div className="lg:col-span-2">
              <ArchiveQueuePanel />
            </div>
          </>
        )}
        {me.is_admin && (
          <div className={operates(me) ? "lg:col-span-2" : ""}>
            <UsagePanel organizationId={me.organization_id} />
          </div>
        )}
        {operates(me) && (
          <div className={me.is_admin ? "" : "lg:col-span-2"}>
            <ReconciliationPanel />
          </div>
        )}
        {me.is_admin && <SavingsPanel />}
      </div>
    </>
  );
}

function LookAgain() {
  const { dataUpdatedAt, isFetching } = useReadiness();
  const lookAgain = useLookAgain();
  const clock = new Date(dataUpdatedAt).toLocaleTimeString("en-GB");
  return (
    <>
      {dataUpdatedAt > 0 && (
        <span className="text-13 text-ink-3" title={t.every}>
          {t.lookedAt(clock)}
        </span>
      )}
      <Button icon="retry" isBusy={isFetching} onClick={lookAgain}>
        {t.check}
      </Button>
    </>
  );
}
