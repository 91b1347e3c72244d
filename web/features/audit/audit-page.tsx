"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { SheetFoot, SheetHead } from "@/components/shell/sheet-head";
import { Button } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { Failure } from "@/components/ui/failure";
import { Menu, MenuLink, MenuNote } from "@/components/ui/menu";
import { Pager } from "@/components/ui/pager";
import { LoadingBar, PageSkeleton, SkeletonRows } from "@/components/ui/skeleton";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { operates, seesArchive } from "@/features/session/rights";
import { usePerson } from "@/features/session/signed-in";
import { auditExportUrl, keys, listEvents, verifyAudit, type AuditEvent } from "@/lib/api";
import { useView, type Change } from "@/lib/url-state";
import { audit as t, common } from "@/text";

import { AuditBar } from "./audit-bar";
import { AuditTable } from "./audit-table";
import { auditFilters, auditQuery, auditView, isFiltered, NO_FILTERS, type AuditState } from "./audit-view";
import { EventDialog } from "./event-dialog";
import { VerdictBanner } from "./verdict";

const LOOK_AGAIN_MS = 15_000;

export function AuditPage() {
  const me = usePerson();
  const { data: kbs, isPending } = useKnowledgeBases();
  const [wanted, change] = useView(auditView);
  const owns = seesArchive(me, kbs?.items ?? []);
  if (isPending && !me.is_admin) return <PageSkeleton />;
  if (!owns && !operates(me)) {
    return (
      <>
        <SheetHead title={t.title} />
        <Empty icon="lock" {...t.notAllowed} />
      </>
    );
  }
  // Each by their own right: whoever only operates has no organization's trail, and the others not the installation's.
  const installation = operates(me) && (wanted.installation || !owns);
  return <Trail state={{ ...wanted, installation }} change={change} mayVerify={installation || me.is_admin} />;
}

function Trail({ state, change, mayVerify }: { state: AuditState; change: Change<AuditState>; mayVerify: boolean }) {
  const query = auditQuery(state);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: keys.events(query),
    queryFn: ({ signal }) => listEvents(query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: LOOK_AGAIN_MS, // for the seals, which come some seconds later
  });
  const [open, setOpen] = useState<AuditEvent | null>(null);
  const verify = useMutation({ mutationFn: () => verifyAudit({ installation: state.installation }) });
  return (
    <>
      <SheetHead
        title={t.title}
        facts={state.installation ? t.factsInstallation : t.facts}
        actions={
          <>
            <ExportMenu state={state} />
            {mayVerify && (
              <Button kind="primary" icon="seal" isBusy={verify.isPending} onClick={() => verify.mutate()}>
                {verify.isPending ? t.verify.busy : t.verify.action}
              </Button>
            )}
          </>
        }
      />
      <VerdictBanner verdict={verify.data} error={verify.error} onDismiss={verify.reset} />
      <AuditBar state={state} change={change} />
      <LoadingBar isOn={isFetching && data !== undefined} />
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows />}
      {data?.items.length === 0 &&
        (isFiltered(state) ? (
          <Empty icon="search" {...t.noMatch} action={<Button onClick={() => change(NO_FILTERS)}>{common.clearFilters}</Button>} />
        ) : (
          <Empty icon="ledger" {...(state.installation ? t.emptyInstallation : t.empty)} />
        ))}
      {data && data.items.length > 0 && (
        <>
          <AuditTable events={data.items} onOpen={setOpen} />
          <SheetFoot>
            <Pager page={data.page} limit={data.limit} total={data.total} onPage={(page) => change({ page })} />
          </SheetFoot>
        </>
      )}
      {open && <EventDialog event={open} onClose={() => setOpen(null)} />}
    </>
  );
}

function ExportMenu({ state }: { state: AuditState }) {
  const filters = auditFilters(state);
  return (
    <Menu trigger={<Button icon="download">{t.export.action}</Button>} width={280}>
      <MenuLink isPlain icon="ledger" href={auditExportUrl({ ...filters, format: "jsonl" })}>
        {t.export.jsonl}
      </MenuLink>
      <MenuLink isPlain icon="document" href={auditExportUrl({ ...filters, format: "csv" })}>
        {t.export.csv}
      </MenuLink>
      <MenuNote>{t.export.hint}</MenuNote>
    </Menu>
  );
}
