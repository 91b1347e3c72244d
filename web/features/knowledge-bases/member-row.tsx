"use client";

import { Avatar } from "@/components/ui/avatar";
import { IconButton } from "@/components/ui/button";
import { Menu, MenuItem } from "@/components/ui/menu";
import { Select } from "@/components/ui/select";
import type { Member, Role } from "@/lib/api";
import { knowledgeBases } from "@/text";

const t = knowledgeBases.people;
const ROLES: readonly Role[] = ["viewer", "editor"];

export function MemberRow({
  member,
  isManager,
  onRole,
  onRemove,
  onMakeOwner,
}: {
  member: Member;
  isManager: boolean;
  onRole: (role: Role) => void;
  onRemove: () => void;
  onMakeOwner: () => void;
}) {
  return (
    <li className="flex min-h-11 items-center gap-3 py-1">
      <Avatar email={member.email} />
      <bdi className="min-w-0 flex-1 truncate text-ink" title={member.email}>
        {member.email}
      </bdi>
      {isManager ? (
        <>
          <Select
            aria-label={t.role(member.email)}
            value={member.role}
            choices={ROLES.map((value) => ({ value, label: t.shortRoles[value] }))}
            onChoose={onRole}
            className="w-28"
          />
          <Menu trigger={<IconButton label={t.menu(member.email)} icon="more" tooltip={false} />}>
            <MenuItem icon="key" onSelect={onMakeOwner}>
              {t.makeOwner}
            </MenuItem>
            <MenuItem icon="close" onSelect={onRemove}>
              {t.remove}
            </MenuItem>
          </Menu>
        </>
      ) : (
        <span className="pr-2.5 text-13">{t.shortRoles[member.role]}</span>
      )}
    </li>
  );
}
