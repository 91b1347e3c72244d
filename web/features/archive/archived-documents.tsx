"use client";

import { useMemo, useRef, useState } from "react";

import { SheetHead } from "@/components/shell/sheet-head";
import { ButtonLink } from "@/components/ui/button";
import { Failure } from "@/components/ui/failure";
import { LoadingBar, SkeletonRows } from "@/components/ui/skeleton";
import { showToast } from "@/components/ui/toast-store";
import type { ArchivedDocument } from "@/lib/api";
import type { Change } from "@/lib/url-state";
import { archive as t, common } from "@/text";

import { ArchiveBar } from "./archive-bar";
import { ArchiveEmpty } from "./archive-empty";
import { ArchiveFoot } from "./archive-foot";
import { ArchiveTable } from "./archive-table";
import { archiveView, type ArchiveState } from "./archive-view";
import { PurgeDialog } from "./purge-dialog";
import { PurgeManyDialog } from "./purge-many-dialog";
import { RestoreDialog } from "./restore-dialog";
import { placeOf, useArchive } from "./use-archive";
import { useArchiveKeys } from "./use-archive-keys";
import { useSelection } from "./use-selection";

type Act = { kind: "restore" | "purge"; document: ArchivedDocument } | { kind: "purge-many" };

export function ArchivedDocuments({ state, change }: { state: ArchiveState; change: Change<ArchiveState> }) {
  const { list, total, restore, archiveAgain } = useArchive(state);
  const selection = useSelection();
  const [act, setAct] = useState<Act | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const close = () => setAct(null);
  const acts = useMemo(
    () => ({
      restore: (document: ArchivedDocument) => setAct({ kind: "restore", document }),
      purge: (document: ArchivedDocument) => setAct({ kind: "purge", document }),
    }),
    [],
  );
  const documents = list.data?.items ?? [];
  useArchiveKeys({ documents, field, selection, onRestore: acts.restore, isOff: act !== null || state.receipt !== "" });

  const carryOutRestore = async (document: ArchivedDocument) => {
    await restore.mutateAsync(placeOf(document));
    selection.change([document], false);
    showToast({
      text: t.restore.done(document.name),
      icon: "undo",
      action: { label: common.undo, onSelect: () => archiveAgain.mutate(placeOf(document)) },
    });
  };
  const openReceipt = (receiptId: string) => change({ receipt: receiptId, page: state.page });

  return (
    <>
      <SheetHead
        title={t.title}
        facts={total.data === undefined ? " " : t.facts(total.data)}
        actions={
          <ButtonLink href={archiveView.href("/archive", { receipts: true })} icon="seal">
            {t.receipts.title}
          </ButtonLink>
        }
      />
      <ArchiveBar state={state} change={change} count={list.data?.total} field={field} />
      <LoadingBar isOn={list.isFetching && list.data !== undefined} />
      {list.error && !list.data && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {!list.data && !list.error && <SkeletonRows />}
      {list.data && documents.length === 0 && <ArchiveEmpty state={state} change={change} total={list.data.total} />}
      {documents.length > 0 && (
        <ArchiveTable
          documents={documents}
          sort={state.sort}
          onSort={(sort) => change({ sort })}
          selection={selection}
          acts={acts}
          touched={act?.kind === "purge" ? act.document.id : undefined}
        />
      )}
      {list.data && (list.data.total > 0 || selection.all.length > 0) && (
        <ArchiveFoot state={state} change={change} total={list.data.total} selection={selection} onPurge={() => setAct({ kind: "purge-many" })} />
      )}
      {act?.kind === "restore" && <RestoreDialog document={act.document} onRestore={carryOutRestore} onClose={close} />}
      {act?.kind === "purge" && (
        <PurgeDialog
          document={act.document}
          onClose={() => {
            selection.change([act.document], false);
            close();
          }}
          onReceipt={openReceipt}
        />
      )}
      {act?.kind === "purge-many" && <PurgeManyDialog documents={selection.all} onClose={close} onReceipt={openReceipt} onDone={selection.clear} />}
    </>
  );
}
