"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";

import { Failure } from "@/components/ui/failure";
import { LoadingBar, SkeletonRows } from "@/components/ui/skeleton";
import { mayEdit, mayManage } from "@/features/session/rights";
import { useChooser } from "@/features/upload/chooser";
import type { Document, KnowledgeBase, Page } from "@/lib/api";
import type { Change } from "@/lib/url-state";

import type { Asked } from "./asked";
import { useGoTo } from "./document-actions-menu";
import { DocumentDialogs } from "./document-dialogs";
import { activeOf, DocumentsBar } from "./documents-bar";
import { DocumentsFoot } from "./documents-foot";
import { DocumentsHead } from "./documents-head";
import { DocumentsTable } from "./documents-table";
import { hasFilters, queryOf, WITHOUT_FILTERS, type DocumentsState } from "./documents-view";
import { NewRows, NoDocuments, NoMatch } from "./empty-states";
import type { RowAct } from "./menu-plan";
import { useStableActions } from "./row-actions";
import { useDocumentKeys } from "./use-document-keys";
import { useGhosts } from "./use-ghosts";
import { useKeptFocus } from "./use-kept-focus";
import { useMoves } from "./use-moves";
import { useReplaceChooser } from "./use-replace-chooser";
import { useRows } from "./use-rows";
import { useSelection } from "./use-selection";

interface Props {
  kb: KnowledgeBase;
  answer: UseQueryResult<Page<Document>>;
  state: DocumentsState;
  change: Change<DocumentsState>;
}

export function DocumentsOfKb({ kb, answer, state, change }: Props) {
  const isManager = mayManage(kb.role);
  const isEditor = mayEdit(kb.role);
  const chooser = useChooser(kb.id);
  const filter = useRef<HTMLInputElement>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [menuId, setMenu] = useState<string | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  const ghosts = useGhosts();
  const moves = useMoves(kb.id, ghosts);
  const viewKey = JSON.stringify(queryOf(state));
  const { rows, waiting, showWaiting } = useRows({
    answer: answer.data,
    isPlaceholder: answer.isPlaceholderData,
    viewKey,
    ghosts: ghosts.all,
    isInHand: isChoosing || menuId !== null || asked !== null,
  });
  const rowIds = useMemo(() => rows.map(({ id }) => id), [rows]);
  const selectableIds = useMemo(() => rowIds.filter((id) => !ghosts.all.has(id)), [rowIds, ghosts.all]);
  const selection = useSelection(selectableIds, viewKey);
  if (isChoosing !== selection.ids.size > 0) setChoosing(selection.ids.size > 0);
  const replacing = useReplaceChooser((document, file) => setAsked({ kind: "replace", document, file }));
  const goTo = useGoTo();
  useKeptFocus(rowIds);

  const run = (act: RowAct, document: Document) => {
    if (act === "retry") void moves.retry(document);
    else if (act === "replace") replacing.choose(document);
    else if (act === "open" || act === "download") goTo[act](document);
    else setAsked({ kind: act, document });
  };
  const actions = useStableActions({
    run,
    setMenu,
    closeMenu: (id) => setMenu((now) => (now === id ? null : now)),
    toggle: (id, isRange) => selection.toggle(id, { isRange }),
    undo: (document) => void moves.undo([document]),
  });
  const archiveSelected = () => setAsked({ kind: "archiveSeveral", documents: rows.filter(({ id }) => selection.ids.has(id)) });
  useDocumentKeys({
    rows,
    actions,
    mayManage: isManager,
    hasSelection: selection.ids.size > 0,
    onArchiveSelected: archiveSelected,
    onClearSelection: selection.clear,
    onFilter: () => filter.current?.focus(),
    onUpload: isEditor ? chooser.chooseFiles : null,
    onUndo: moves.undoLast,
  });

  const total = answer.data?.total ?? 0;
  const isEmpty = answer.data !== undefined && rows.length === 0 && total === 0;
  const hasNone = isEmpty && !hasFilters(state) && activeOf(kb.counts) === 0;
  return (
    <>
      <DocumentsHead kb={kb} chooser={isEditor ? chooser : null} />
      {replacing.input}
      {hasNone ? (
        <NoDocuments kb={kb} chooser={isEditor ? chooser : null} />
      ) : (
        <>
          <DocumentsBar state={state} change={change} counts={kb.counts} filterRef={filter} />
          <LoadingBar isOn={answer.isPlaceholderData && answer.isFetching} />
          <NewRows count={waiting} onShow={showWaiting} />
          {answer.data === undefined && answer.error ? (
            <Failure error={answer.error} onRetry={() => void answer.refetch()} />
          ) : answer.data === undefined ? (
            <SkeletonRows rows={Math.min(state.limit, 12)} />
          ) : isEmpty ? (
            <NoMatch state={state} onClear={() => change(WITHOUT_FILTERS)} />
          ) : (
            <DocumentsTable
              kbName={kb.name}
              rows={rows}
              ghosts={ghosts.all}
              selection={selection}
              sort={state.sort}
              onSort={(sort) => change({ sort })}
              menuId={menuId}
              mayManage={isManager}
              mayEdit={isEditor}
              actions={actions}
            />
          )}
          <DocumentsFoot state={state} change={change} total={total} selected={selection.ids.size} onArchive={archiveSelected} onClear={selection.clear} />
        </>
      )}
      <DocumentDialogs asked={asked} onClose={() => setAsked(null)} moves={moves} onArchived={selection.clear} onReplace={replacing.choose} />
    </>
  );
}
