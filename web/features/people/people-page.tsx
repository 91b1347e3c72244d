"use client";

import { useState } from "react";

import { SheetBar, SheetHead } from "@/components/shell/sheet-head";
import { Button } from "@/components/ui/button";
import { Empty } from "@/components/ui/empty";
import { Segments } from "@/components/ui/tabs";
import { managesPeople } from "@/features/session/rights";
import { usePerson } from "@/features/session/signed-in";
import type { Me } from "@/lib/api";
import { useView } from "@/lib/url-state";
import { people as t } from "@/text";

import { NewPersonDialog } from "./new-person-dialog";
import { OrganizationDialog } from "./organization-dialog";
import { OrganizationsList } from "./organizations-list";
import { PeopleList } from "./people-list";
import { peopleView } from "./people-view";
import { useOrganizations, usePeople } from "./use-people";

/** Admins see the people of their organization, operators everybody and the organizations. */
export function PeoplePage() {
  const me = usePerson();
  if (!managesPeople(me)) {
    return (
      <>
        <SheetHead title={t.title} />
        <Empty icon="lock" {...t.notAllowed} />
      </>
    );
  }
  return <Managed me={me} />;
}

function Managed({ me }: { me: Me }) {
  const [wanted, change] = useView(peopleView);
  // What only operators may ask for, nobody else does by an address.
  const state = me.is_operator ? wanted : { ...wanted, tab: "people" as const, organization: "" };
  const [isAdding, setAdding] = useState(false);
  const isPeople = state.tab === "people";
  return (
    <>
      <SheetHead
        title={t.title}
        facts={isPeople ? <PeopleFacts state={state} me={me} /> : <OrganizationFacts />}
        actions={
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            {isPeople ? t.add : t.organizations.add}
          </Button>
        }
      />
      {me.is_operator && (
        <SheetBar>
          <Segments
            label={t.tabs.label}
            value={state.tab}
            choices={[
              { value: "people", label: t.tabs.people },
              { value: "organizations", label: t.tabs.organizations },
            ]}
            onChoose={(tab) => change({ tab })}
          />
        </SheetBar>
      )}
      {isPeople ? <PeopleList state={state} change={change} /> : <OrganizationsList state={state} change={change} />}
      {isAdding && isPeople && <NewPersonDialog organizationId={state.organization} onClose={() => setAdding(false)} />}
      {isAdding && !isPeople && <OrganizationDialog organization={null} onClose={() => setAdding(false)} />}
    </>
  );
}

function PeopleFacts({ state, me }: { state: typeof peopleView.initial; me: Me }) {
  const { data } = usePeople(state);
  const { data: organizations } = useOrganizations(me.is_operator);
  if (!data) return " ";
  if (!me.is_operator) return t.facts(data.total, me.organization_name);
  const chosen = organizations?.items.find((one) => one.id === state.organization);
  return chosen ? t.facts(data.total, chosen.name) : t.factsAll(data.total);
}

function OrganizationFacts() {
  const { data } = useOrganizations(true);
  return data ? t.organizations.facts(data.total) : " ";
}
