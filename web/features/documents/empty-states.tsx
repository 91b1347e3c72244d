"use client";

import { Button, ButtonLink } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { Icon } from "@/components/ui/icons";
import { documentsOf } from "@/features/knowledge-bases/counts";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { FirstDocuments } from "@/features/welcome/first-documents";
import type { Chooser } from "@/features/upload/chooser";
import type { KnowledgeBase } from "@/lib/api";
import { formatCount, formatList, plural } from "@/lib/format";
import { common, documents as t, upload } from "@/text";

import { cleanFilter, type DocumentsState } from "./documents-view";

/** Nothing here yet: for those who may add something, where to drop it. The region holds two real buttons and is none. */
export function NoDocuments({ kb, chooser }: { kb: KnowledgeBase; chooser: Chooser | null }) {
  const isFirst = useIsFirst(kb);
  if (!chooser) return <Empty icon="document" title={t.empty.forViewer} text={kb.counts.archived > 0 ? archivedWords(kb) : t.empty.forViewerText} />;
  const zone = <DropZone kb={kb} chooser={chooser} />;
  return isFirst ? <FirstDocuments kb={kb}>{zone}</FirstDocuments> : <div className="grid flex-1 place-items-center p-4 md:p-6">{zone}</div>;
}

/** Whether the person has just begun: one knowledge base, their own, and never a document in it. */
function useIsFirst(kb: KnowledgeBase): boolean {
  const { data } = useKnowledgeBases();
  return data?.total === 1 && kb.role === "owner" && documentsOf(kb) === 0;
}

function DropZone({ kb, chooser }: { kb: KnowledgeBase; chooser: Chooser }) {
  return (
    <section className="grid w-full max-w-[640px] justify-items-center gap-2 rounded-sheet border border-dashed border-petrol-line bg-petrol-soft/50 px-6 py-12 text-center">
      <Icon name="upload" size={28} className="text-petrol" />
      <h2 className="font-doc text-20 font-semibold text-balance">{t.empty.title}</h2>
      <p className="text-13 text-ink-2">{t.empty.text}</p>
      <div className="mt-3 flex flex-wrap justify-center gap-2">
        <Button kind="primary" icon="upload" onClick={chooser.chooseFiles}>
          {upload.chooseFiles}
        </Button>
        <Button icon="folder" onClick={chooser.chooseFolder}>
          {upload.chooseFolder}
        </Button>
      </div>
      {kb.counts.archived > 0 && <p className="mt-2 text-13 text-ink-2">{archivedWords(kb)}</p>}
    </section>
  );
}

const archivedWords = ({ counts: { archived } }: KnowledgeBase): string =>
  archived === 1 ? t.empty.allArchivedOne : t.empty.allArchived(plural(archived, t.one, t.many));

/** Names the filters, and takes them off. */
export function NoMatch({ state, onClear }: { state: DocumentsState; onClear: () => void }) {
  const filters = [
    ...(state.status === "all" ? [] : [common.status[state.status]]),
    ...(state.type === "any" ? [] : [t.noMatch.type(common.documentTypes[state.type])]),
    ...(cleanFilter(state.q) ? [t.noMatch.name(cleanFilter(state.q))] : []),
  ];
  return <Empty icon="search" title={t.noMatch.title} text={<bdi>{formatList(filters)}</bdi>} action={<Button onClick={onClear}>{t.noMatch.clear}</Button>} />;
}

export function NoKnowledgeBase() {
  return (
    <Empty
      icon="folder"
      title={t.notThere.title}
      text={t.notThere.text}
      action={
        <ButtonLink href="/" kind="primary">
          {t.notThere.action}
        </ButtonLink>
      }
    />
  );
}

/** Between bar and table while new rows wait. */
export function NewRows({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div role="status" className="sticky top-0 z-[2] h-0 text-center">
      {count > 0 && (
        <Button kind="primary" size="small" icon="up" className="mt-1 shadow-2" onClick={onShow}>
          {t.more(formatCount(count))}
        </Button>
      )}
    </div>
  );
}
