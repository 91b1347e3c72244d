/** What one may do with somebody's account. The server decides; this leaves out what it would refuse. */
import type { Me, User, UserChange } from "@/lib/api";
import { people as t } from "@/text";

export type PersonAct = "makeAdmin" | "takeAdmin" | "makeOperator" | "takeOperator" | "password" | "deactivate" | "activate";

export function actsOn(user: User, me: Me): PersonAct[] {
  const isMe = user.id === me.id;
  // An admin manages the people of the organization, and no operator; nobody takes rights from themselves or gives them.
  if (isMe || (user.is_operator && !me.is_operator)) return [];
  return [
    user.is_admin ? "takeAdmin" : "makeAdmin",
    ...(me.is_operator ? ([user.is_operator ? "takeOperator" : "makeOperator"] as const) : []),
    "password",
    user.is_active ? "deactivate" : "activate",
  ];
}

/** Those that ask first and then change one thing. */
export type AskedAct = Exclude<PersonAct, "password" | "activate">;

export const CHANGES: Record<AskedAct | "activate", UserChange> = {
  makeAdmin: { is_admin: true },
  takeAdmin: { is_admin: false },
  makeOperator: { is_operator: true },
  takeOperator: { is_operator: false },
  deactivate: { is_active: false },
  activate: { is_active: true },
};

export const isAsked = (act: PersonAct): act is AskedAct => act !== "password" && act !== "activate";

/** `Admin, Operator`; nobody is nothing. */
export function rightsOf(user: User): string[] {
  const rights = [...(user.is_admin ? [t.rights.admin] : []), ...(user.is_operator ? [t.rights.operator] : [])];
  return rights.length > 0 ? rights : [t.rights.none];
}
