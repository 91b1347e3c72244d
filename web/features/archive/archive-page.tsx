"use client";

import { Empty } from "@/components/ui/empty";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { seesArchive } from "@/features/session/rights";
import { usePerson } from "@/features/session/signed-in";
import { SheetHead } from "@/components/shell/sheet-head";
import { PageSkeleton } from "@/components/ui/skeleton";
import { useView } from "@/lib/url-state";
import { archive as t } from "@/text";

import { ArchivedDocuments } from "./archived-documents";
import { archiveView } from "./archive-view";
import { ReceiptDialog } from "./receipt-dialog";
import { ReceiptsList } from "./receipts-list";

/** Documents that search does not show, and the receipts of those that are gone. */
export function ArchivePage() {
  const me = usePerson();
  const { data: kbs, isPending } = useKnowledgeBases();
  const [state, change] = useView(archiveView);
  if (isPending && !me.is_admin) return <PageSkeleton />;
  // Who has given their last knowledge base away may still hold receipts of it.
  if (!seesArchive(me, kbs?.items ?? []) && !state.receipts && !state.receipt) {
    return (
      <>
        <SheetHead title={t.title} />
        <Empty icon="lock" {...t.notAllowed} />
      </>
    );
  }
  return (
    <>
      {state.receipts ? <ReceiptsList state={state} change={change} /> : <ArchivedDocuments state={state} change={change} />}
      {state.receipt && <ReceiptDialog receiptId={state.receipt} onClose={() => change({ receipt: "", page: state.page })} />}
    </>
  );
}
