"use client";

import { Avatar } from "@/components/ui/avatar";
import { IconButton } from "@/components/ui/button";
import { Menu, MenuItem, MenuLine, MenuLink } from "@/components/ui/menu";
import { StatusBadge } from "@/components/ui/status-badge";
import { Time } from "@/components/ui/time";
import { VisuallyHidden } from "@/components/ui/visually-hidden";
import { usePerson } from "@/features/session/signed-in";
import type { User } from "@/lib/api";
import { people as t } from "@/text";

import { actsOn, rightsOf, type PersonAct } from "./person-acts";

type Acts = { onAct: (act: PersonAct, user: User) => void };

export function PeopleTable({ users, organizationName, onAct }: { users: readonly User[]; organizationName: ((id: string) => string) | null } & Acts) {
  const c = t.columns;
  return (
    <table className="register">
      <colgroup>
        <col />
        <col className="w-[170px]" />
        {organizationName && <col className="w-[22%]" data-from="lg" />}
        <col className="w-[120px]" data-from="lg" />
        <col className="w-[140px]" />
        <col className="w-[64px]" />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">{c.email}</th>
          <th scope="col">{c.rights}</th>
          {organizationName && (
            <th scope="col" data-from="lg">
              {c.organization}
            </th>
          )}
          <th scope="col" data-from="lg">
            {c.since}
          </th>
          <th scope="col">{c.status}</th>
          <th scope="col">
            <VisuallyHidden>{c.actions}</VisuallyHidden>
          </th>
        </tr>
      </thead>
      <tbody>
        {users.map((user) => (
          <Row key={user.id} user={user} organizationName={organizationName} onAct={onAct} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ user, organizationName, onAct }: { user: User; organizationName: ((id: string) => string) | null } & Acts) {
  const me = usePerson();
  return (
    <tr role="row">
      <td role="cell" data-cell="name">
        <span className="flex min-w-0 items-center gap-2.5">
          <Avatar email={user.email} size={22} />
          <bdi className="truncate" title={user.email}>
            {user.email}
          </bdi>
          {user.id === me.id && <span className="shrink-0 text-12 text-ink-3">{t.you}</span>}
        </span>
      </td>
      <td role="cell" data-cell="status">
        {rightsOf(user).join(", ")}
      </td>
      {organizationName && (
        <td role="cell" data-from="lg">
          <bdi>{organizationName(user.organization_id)}</bdi>
        </td>
      )}
      <td role="cell" data-from="lg">
        <Time at={user.created_at} />
      </td>
      <td role="cell" data-cell="fact">
        <StatusBadge status={user.is_active ? "completed" : "pending"} label={user.is_active ? t.active : t.inactive} />
      </td>
      <td role="cell" data-cell="menu">
        <RowMenu user={user} onAct={onAct} />
      </td>
    </tr>
  );
}

const ICONS = {
  makeAdmin: "key",
  takeAdmin: "key",
  makeOperator: "gauge",
  takeOperator: "gauge",
  password: "lock",
  activate: "check",
  deactivate: "stop",
} as const;

/** Whoever may do nothing with an account sees no menu, unless they may read what its owner did. */
function RowMenu({ user, onAct }: { user: User } & Acts) {
  const me = usePerson();
  const acts = actsOn(user, me);
  const seesTrail = me.is_admin && user.organization_id === me.organization_id;
  if (acts.length === 0 && !seesTrail) return null;
  return (
    <Menu trigger={<IconButton label={t.actionsFor(user.email)} icon="more" size="small" tooltip={false} />}>
      {acts.map((act) => (
        <MenuItem key={act} icon={ICONS[act]} isWax={act === "deactivate"} onSelect={() => onAct(act, user)}>
          {t[act].menu}
        </MenuItem>
      ))}
      {acts.length > 0 && seesTrail && <MenuLine />}
      {seesTrail && (
        <MenuLink href={`/audit?actor=${user.id}`} icon="ledger">
          {t.audit}
        </MenuLink>
      )}
    </Menu>
  );
}
