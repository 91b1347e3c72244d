"use client";

import { Failure } from "@/components/ui/failure";
import { PageSkeleton } from "@/components/ui/skeleton";
import { useKnowledgeBase } from "@/features/knowledge-bases/use-knowledge-bases";
import { Invalid, NotFound } from "@/lib/api";
import { useView, type Change } from "@/lib/url-state";

import { documentsView, type DocumentsState } from "./documents-view";
import { DocumentsOfKb } from "./documents-of-kb";
import { NoKnowledgeBase } from "./empty-states";
import { useDocuments } from "./use-documents";

/** The documents of the knowledge base that the address names. */
export function DocumentsPage() {
  const [state, change] = useView(documentsView);
  return state.id === "" ? <NoKnowledgeBase /> : <Loaded key={state.id} state={state} change={change} />;
}

/** Both are asked for at once: neither waits for the other. */
function Loaded({ state, change }: { state: DocumentsState; change: Change<DocumentsState> }) {
  const kb = useKnowledgeBase(state.id);
  const answer = useDocuments(state, change);
  // An address that was cut off in a mail: the server calls it invalid, people call it not there.
  if (kb.error instanceof NotFound || kb.error instanceof Invalid) return <NoKnowledgeBase />;
  if (kb.data) return <DocumentsOfKb kb={kb.data} answer={answer} state={state} change={change} />;
  return kb.error ? <Failure error={kb.error} onRetry={() => void kb.refetch()} /> : <PageSkeleton />;
}
