"use client";

import Link from "next/link";
import { useState } from "react";

import { SheetFoot } from "@/components/shell/sheet-head";
import { IconButton } from "@/components/ui/button";
import { Failure } from "@/components/ui/failure";
import { Menu, MenuItem, MenuLink } from "@/components/ui/menu";
import { Pager } from "@/components/ui/pager";
import { LoadingBar, SkeletonRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { VisuallyHidden } from "@/components/ui/visually-hidden";
import type { Organization } from "@/lib/api";
import type { Change } from "@/lib/url-state";
import { people as t } from "@/text";

import { OrganizationDialog } from "./organization-dialog";
import { LIMIT, peopleView, type PeopleState } from "./people-view";
import { useOrganizationPage } from "./use-people";

/** For operators. */
export function OrganizationsList({ state, change }: { state: PeopleState; change: Change<PeopleState> }) {
  const { data, error, refetch, isFetching } = useOrganizationPage(state.page);
  const [renamed, setRenamed] = useState<Organization | null>(null);
  const c = t.organizations.columns;
  return (
    <>
      <LoadingBar isOn={isFetching && data !== undefined} />
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows />}
      {data && (
        <>
          <table className="register">
            <colgroup>
              <col />
              <col className="w-[320px]" data-from="lg" />
              <col className="w-[140px]" />
              <col className="w-[64px]" />
            </colgroup>
            <thead>
              <tr>
                <th scope="col">{c.name}</th>
                <th scope="col" data-from="lg">
                  {c.id}
                </th>
                <th scope="col">{c.since}</th>
                <th scope="col">
                  <VisuallyHidden>{c.actions}</VisuallyHidden>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((organization) => (
                <Row key={organization.id} organization={organization} onRename={setRenamed} />
              ))}
            </tbody>
          </table>
          <SheetFoot>
            <Pager page={state.page} limit={LIMIT} total={data.total} onPage={(page) => change({ page })} />
          </SheetFoot>
        </>
      )}
      {renamed && <OrganizationDialog organization={renamed} onClose={() => setRenamed(null)} />}
    </>
  );
}

function Row({ organization, onRename }: { organization: Organization; onRename: (organization: Organization) => void }) {
  const people = peopleView.href("/people", { organization: organization.id });
  return (
    <tr role="row">
      <td role="cell" data-cell="name">
        <Link href={people}>
          <bdi className="truncate">{organization.name}</bdi>
        </Link>
      </td>
      <td role="cell" data-from="lg" className="font-proof! text-12!">
        {organization.id}
      </td>
      <td role="cell" data-cell="status">
        <Time at={organization.created_at} />
      </td>
      <td role="cell" data-cell="menu">
        <Menu trigger={<IconButton label={t.organizations.actionsFor(organization.name)} icon="more" size="small" tooltip={false} />}>
          <MenuLink href={people} icon="people">
            {t.organizations.showPeople}
          </MenuLink>
          <MenuItem icon="edit" onSelect={() => onRename(organization)}>
            {t.organizations.rename.menu}
          </MenuItem>
        </Menu>
      </td>
    </tr>
  );
}
