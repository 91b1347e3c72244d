"use client";

import { ButtonLink } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { Failure } from "@/components/ui/failure";
import { PageSkeleton } from "@/components/ui/skeleton";
import { useTitle } from "@/components/shell/sheet-head";
import { useKnowledgeBase } from "@/features/knowledge-bases/use-knowledge-bases";
import { Invalid, NotFound, type DocumentPlace } from "@/lib/api";
import { documentView } from "@/lib/hrefs";
import { useView } from "@/lib/url-state";
import { MEDIUM, useMedia } from "@/lib/use-media";
import { document as t } from "@/text";

import { DocumentActions } from "./document-actions";
import { isReadable } from "./kinds";
import { Unread } from "./unread";
import { useDocument, useLookAgain } from "./use-document";
import { usePlace } from "./use-place";
import { Viewer } from "./viewer";
import { ViewerHead } from "./viewer-head";

export function DocumentPage() {
  const [{ kb, id }] = useView(documentView);
  const { place, isNowhere, error } = usePlace(kb, id);
  if (isNowhere) return <NotThere />;
  if (error) return <Failure error={error} onRetry={() => window.location.reload()} />;
  return place ? <OneDocument key={place.documentId} place={place} /> : <PageSkeleton />;
}

function OneDocument({ place }: { place: DocumentPlace }) {
  const document = useDocument(place);
  const kb = useKnowledgeBase(place.kbId);
  const [{ page }, change] = useView(documentView);
  const isMedium = useMedia(MEDIUM);
  useLookAgain(place);
  const error = document.error ?? kb.error;
  // What is not for somebody is not there; an address that makes no sense leads to the same place.
  if (error instanceof NotFound || error instanceof Invalid) return <NotThere />;
  if (error && !(document.data && kb.data)) return <Failure error={error} onRetry={() => void Promise.all([document.refetch(), kb.refetch()])} />;
  if (!document.data || !kb.data) return <PageSkeleton />;
  const isShown = isReadable(document.data);
  // Where the panel is out of sight the dialog of the list explains.
  const explain = isShown && !isMedium ? () => change({ page, tab: "explain" }, { replace: true }) : null;
  return (
    <div className="flex min-h-0 flex-1 flex-col max-md:h-[calc(100dvh-111px)] max-md:flex-none">
      <ViewerHead
        place={place}
        document={document.data}
        kbName={kb.data.name}
        actions={<DocumentActions document={document.data} standing={kb.data.role} onExplain={explain} />}
      />
      {isShown ? <Viewer place={place} document={document.data} standing={kb.data.role} /> : <Unread place={place} document={document.data} />}
    </div>
  );
}

function NotThere() {
  useTitle(t.notThere.title);
  return (
    <div className="grid flex-1 place-content-center">
      <h1 className="sr-only">{t.notThere.title}</h1>
      <Empty
        icon="document"
        title={t.notThere.title}
        text={t.notThere.text}
        action={
          <ButtonLink href="/" kind="primary">
            {t.notThere.action}
          </ButtonLink>
        }
      />
    </div>
  );
}
