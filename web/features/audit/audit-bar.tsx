"use client";

import { SheetBar } from "@/components/shell/sheet-head";
import { DateRange } from "@/components/ui/date-range";
import { Icon } from "@/components/ui/icons";
import { Pick } from "@/components/ui/pick";
import { Segments } from "@/components/ui/tabs";
import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { shortId, useNames } from "@/features/people/use-names";
import { mayManage, operates, seesArchive } from "@/features/session/rights";
import { usePerson } from "@/features/session/signed-in";
import type { Change } from "@/lib/url-state";
import { audit as t, people } from "@/text";

import type { AuditState } from "./audit-view";

type Filters = { state: AuditState; change: Change<AuditState> };

export function AuditBar({ state, change }: Filters) {
  const me = usePerson();
  const { data: kbs } = useKnowledgeBases();
  const hasBoth = operates(me) && seesArchive(me, kbs?.items ?? []);
  return (
    <SheetBar>
      {hasBoth && (
        <Segments
          label={t.trails.label}
          value={state.installation ? "installation" : "organization"}
          choices={[
            { value: "organization", label: t.trails.organization },
            { value: "installation", label: t.trails.installation },
          ]}
          onChoose={(trail) => change({ installation: trail === "installation", actor: "", kb: "", document: "" })}
        />
      )}
      <ActionPick state={state} change={change} />
      <ActorPick state={state} change={change} />
      {!state.installation && <KbPick state={state} change={change} />}
      <DateRange label={t.filters.range} from={state.from} to={state.to} onChange={(range) => change(range)} />
      {state.document && (
        <button
          type="button"
          aria-label={t.filters.clearDocument}
          onClick={() => change({ document: "" })}
          className="inline-flex h-control items-center gap-2 rounded-control border border-petrol bg-petrol-soft px-2.5 text-13"
        >
          <span className="font-proof text-12">{t.filters.document(shortId(state.document))}</span>
          <Icon name="close" size={12} className="text-ink-3" />
        </button>
      )}
    </SheetBar>
  );
}

function ActionPick({ state, change }: Filters) {
  const known = Object.entries(t.verbs).map(([value, label]) => ({ value, label }));
  return (
    <Pick
      label={t.filters.action}
      value={state.action}
      none=""
      choices={[{ value: "", label: t.filters.any }, ...known]}
      onChoose={(action) => change({ action })}
    />
  );
}

function ActorPick({ state, change }: Filters) {
  const names = useNames();
  const everybody = [...names].map(([value, label]) => ({ value, label })).sort((a, b) => a.label.localeCompare(b.label));
  const choices = [{ value: "", label: t.filters.anyone }, { value: "system", label: people.system }, ...everybody];
  // A link may name somebody whose name one does not know.
  const isKnown = choices.some(({ value }) => value === state.actor);
  return (
    <Pick
      label={t.filters.actor}
      value={state.actor}
      none=""
      choices={isKnown ? choices : [...choices, { value: state.actor, label: shortId(state.actor) }]}
      onChoose={(actor) => change({ actor })}
    />
  );
}

function KbPick({ state, change }: Filters) {
  const { data } = useKnowledgeBases();
  const mine = (data?.items ?? []).filter((kb) => mayManage(kb.role)).map((kb) => ({ value: kb.id, label: kb.name }));
  return <Pick label={t.filters.kb} value={state.kb} none="" choices={[{ value: "", label: t.filters.allKbs }, ...mine]} onChoose={(kb) => change({ kb })} />;
}
