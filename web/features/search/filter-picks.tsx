"use client";

import { useQuery } from "@tanstack/react-query";

import { DateRange } from "@/components/ui/date-range";
import { Pick } from "@/components/ui/pick";
import { PickSeveral } from "@/components/ui/pick-several";
import { keys, listUploaders, type KnowledgeBase } from "@/lib/api";
import type { Change } from "@/lib/url-state";
import { common, search as t } from "@/text";

import { FORMATS, MODES, SORTS, TYPES, type SearchState } from "./search-view";

export interface FilterProps {
  state: SearchState;
  change: Change<SearchState>;
  knowledgeBases: readonly KnowledgeBase[];
}

/** All filters in their order, then how is matched and sorted. What would have one value only is not offered. */
export function FilterPicks({ state, change, knowledgeBases }: FilterProps) {
  const { data: uploaders } = useQuery({ queryKey: keys.uploaders, queryFn: ({ signal }) => listUploaders(signal), staleTime: 5 * 60_000 });
  const bases = knowledgeBases.map((kb) => ({ value: kb.id, label: kb.name }));
  const people = (uploaders?.items ?? []).map(({ id, email }) => ({ value: id, label: email }));
  const types = TYPES.map((value) => ({ value, label: common.documentTypes[value] }));
  const formats = FORMATS.map((value) => ({ value, label: t.formats[value] }));
  return (
    <>
      {(bases.length > 1 || state.kb.length > 0) && (
        <PickSeveral
          label={t.in}
          summary={summaryOf(state.kb, bases, t.everywhere, t.several)}
          chosen={state.kb}
          choices={bases}
          onChoose={(kb) => change({ kb })}
          clear={t.everywhere}
        />
      )}
      <PickSeveral
        label={t.type}
        summary={summaryOf(state.type, types, t.anyType, t.types)}
        chosen={state.type}
        choices={types}
        onChoose={(type) => change({ type })}
        clear={t.anyType}
      />
      <DateRange label={t.added} from={state.from} to={state.to} onChange={change} />
      {(people.length > 1 || state.by.length > 0) && (
        <PickSeveral
          label={t.by}
          summary={summaryOf(state.by, people, t.anyone, t.people)}
          chosen={state.by}
          choices={people}
          onChoose={(by) => change({ by })}
          clear={t.anyone}
        />
      )}
      <PickSeveral
        label={t.format}
        summary={summaryOf(state.format, formats, t.anyFormat, t.severalFormats)}
        chosen={state.format}
        choices={formats}
        onChoose={(format) => change({ format })}
        clear={t.anyFormat}
      />
      <Pick
        label={t.mode}
        value={state.mode}
        none="hybrid"
        choices={MODES.map((value) => ({ value, label: t.modes[value] }))}
        onChoose={(mode) => change({ mode })}
      />
      <Pick
        label={t.sort}
        value={state.sort}
        none="relevance"
        choices={SORTS.map((value) => ({ value, label: t.sorts[value] }))}
        onChoose={(sort) => change({ sort })}
      />
    </>
  );
}

/** The one that is chosen, or how many; of an id that this person may not know the name of, that it is one. */
function summaryOf<Value extends string>(
  chosen: readonly Value[],
  choices: readonly { value: Value; label: string }[],
  none: string,
  several: (count: number) => string,
): string {
  if (chosen.length === 0) return none;
  return (chosen.length === 1 && choices.find(({ value }) => value === chosen[0])?.label) || several(chosen.length);
}
