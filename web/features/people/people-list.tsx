"use client";

import { useRef, useState } from "react";

import { useKeys } from "@/components/shell/keys";
import { SheetBar, SheetFoot } from "@/components/shell/sheet-head";
import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Empty } from "@/components/ui/empty";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Failure } from "@/components/ui/failure";
import { Pager } from "@/components/ui/pager";
import { Pick } from "@/components/ui/pick";
import { SearchField } from "@/components/ui/search-field";
import { LoadingBar, SkeletonRows } from "@/components/ui/skeleton";
import { showToast } from "@/components/ui/toast-store";
import { usePerson } from "@/features/session/signed-in";
import type { User } from "@/lib/api";
import type { Change } from "@/lib/url-state";
import { common, people as t } from "@/text";

import { PasswordDialog } from "./password-dialog";
import { PeopleTable } from "./people-table";
import { LIMIT, type PeopleState } from "./people-view";
import { CHANGES, isAsked, type PersonAct } from "./person-acts";
import { useOrganizations, usePeople, usePeopleChanges } from "./use-people";
import { shortId } from "./use-names";

export function PeopleList({ state, change }: { state: PeopleState; change: Change<PeopleState> }) {
  const me = usePerson();
  const { data, error, refetch, isFetching } = usePeople(state);
  const { data: organizations } = useOrganizations(me.is_operator);
  const { change: changing } = usePeopleChanges();
  const [asked, setAsked] = useState<{ act: PersonAct; user: User } | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "/", does: t.find, run: () => field.current?.focus() }]);

  const carryOut = async (act: Exclude<PersonAct, "password">, user: User) => {
    await changing.mutateAsync({ id: user.id, change: CHANGES[act] });
    showToast({ text: t[act].done(user.email), icon: "check" });
  };
  const onAct = (act: PersonAct, user: User) => {
    // Giving access back asks nothing; a refusal stands above the list.
    if (act === "activate") void carryOut(act, user).catch(() => undefined);
    else setAsked({ act, user });
  };
  const organizationName = (id: string) => organizations?.items.find((one) => one.id === id)?.name ?? shortId(id);
  return (
    <>
      <SheetBar>
        <SearchField ref={field} label={t.find} value={state.q} onSearch={(q) => change({ q }, { replace: true })} boxClass="w-full md:w-[264px]" />
        {me.is_operator && organizations && (
          <Pick
            label={t.organization}
            value={state.organization}
            none=""
            choices={[{ value: "", label: t.all }, ...organizations.items.map((one) => ({ value: one.id, label: one.name }))]}
            onChoose={(organization) => change({ organization })}
          />
        )}
      </SheetBar>
      {changing.error && !asked && <Banner tone="failed" {...sentencesOf(changing.error)} className="mx-4 mb-3 md:mx-6" />}
      <LoadingBar isOn={isFetching && data !== undefined} />
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows />}
      {data?.items.length === 0 && (
        <Empty
          icon="people"
          {...(state.q ? t.empty : t.none)}
          action={state.q && <Button onClick={() => change({ q: "", organization: "" })}>{common.clearFilters}</Button>}
        />
      )}
      {data && data.items.length > 0 && (
        <>
          <PeopleTable users={data.items} organizationName={me.is_operator ? organizationName : null} onAct={onAct} />
          <SheetFoot>
            <Pager page={state.page} limit={LIMIT} total={data.total} onPage={(page) => change({ page })} />
          </SheetFoot>
        </>
      )}
      {asked?.act === "password" && <PasswordDialog user={asked.user} onClose={() => setAsked(null)} />}
      {asked && isAsked(asked.act) && <Asking act={asked.act} user={asked.user} onClose={() => setAsked(null)} onConfirm={carryOut} />}
    </>
  );
}

type Asked = Exclude<PersonAct, "password" | "activate">;

function Asking({ act, user, onClose, onConfirm }: { act: Asked; user: User; onClose: () => void; onConfirm: (act: Asked, user: User) => Promise<void> }) {
  const words = t[act];
  return (
    <ConfirmDialog isOpen onClose={onClose} question={words.question(user.email)} action={words.action} onConfirm={() => onConfirm(act, user)}>
      <p>{words.text}</p>
    </ConfirmDialog>
  );
}
