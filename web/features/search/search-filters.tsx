"use client";

import { Pick } from "@/components/ui/pick";
import { PickSeveral } from "@/components/ui/pick-several";
import type { KnowledgeBase } from "@/lib/api";
import type { Change } from "@/lib/url-state";
import { common, search as t } from "@/text";

import { MODES, TYPES, type SearchState } from "./search-view";

export function SearchFilters({
  state,
  change,
  knowledgeBases,
}: {
  state: SearchState;
  change: Change<SearchState>;
  knowledgeBases: readonly KnowledgeBase[];
}) {
  const [only] = state.kb;
  const names = new Map(knowledgeBases.map((kb) => [kb.id, kb.name]));
  const places = state.kb.length === 0 ? t.everywhere : state.kb.length === 1 && only ? (names.get(only) ?? t.several(1)) : t.several(state.kb.length);
  const [type] = state.type;
  const types = state.type.length === 0 ? t.anyType : state.type.length === 1 && type ? common.documentTypes[type] : t.types(state.type.length);
  return (
    <div role="group" aria-label={t.filters} className="flex min-w-0 flex-wrap gap-2">
      {knowledgeBases.length > 1 && (
        <PickSeveral
          label={t.in}
          summary={places}
          chosen={state.kb}
          choices={knowledgeBases.map((kb) => ({ value: kb.id, label: kb.name }))}
          onChoose={(kb) => change({ kb })}
          clear={t.everywhere}
        />
      )}
      <PickSeveral
        label={t.type}
        summary={types}
        chosen={state.type}
        choices={TYPES.map((value) => ({ value, label: common.documentTypes[value] }))}
        onChoose={(chosen) => change({ type: chosen })}
        clear={t.anyType}
      />
      <Pick
        label={t.mode}
        value={state.mode}
        none="hybrid"
        choices={MODES.map((value) => ({ value, label: t.modes[value] }))}
        onChoose={(mode) => change({ mode })}
      />
    </div>
  );
}
