"use client";

import { useQuery, type UseMutationResult } from "@tanstack/react-query";
import { useDeferredValue, useId, useState } from "react";

import { usePerson } from "@/features/session/signed-in";
import { Button } from "@/components/ui/button";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Field } from "@/components/ui/field";
import { SelectField } from "@/components/ui/select";
import { keys, listUsers, NotFound, Refused, type KnowledgeBase, type Member, type Role } from "@/lib/api";
import { knowledgeBases } from "@/text";

const t = knowledgeBases.people;
const ROLES: readonly Role[] = ["viewer", "editor"];

type Adding = UseMutationResult<Member, Error, { email: string; role: Role }>;

/** By the whole address. Admins, who may see everybody of their organization, get suggestions while they type. */
export function AddMember({ kb, adding, suggests }: { kb: KnowledgeBase; adding: Adding; suggests: boolean }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const list = useId();
  const suggestions = useSuggestions(email, suggests);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (email.trim() && !adding.isPending) adding.mutate({ email, role }, { onSuccess: () => setEmail("") });
      }}
      className="grid items-start gap-x-2 gap-y-3 md:grid-cols-[minmax(0,1fr)_190px_auto]"
    >
      <Field
        label={t.email}
        type="email"
        autoComplete="off"
        list={suggests ? list : undefined}
        value={email}
        onChange={(event) => {
          adding.reset();
          setEmail(event.target.value);
        }}
        hint={t.addHint}
        error={adding.error ? problemOf(adding.error, adding.variables?.email ?? email, kb) : undefined}
      />
      <datalist id={list}>
        {suggestions.map((suggested) => (
          <option key={suggested} value={suggested} />
        ))}
      </datalist>
      <SelectField
        label={t.roleLabel}
        value={role}
        choices={ROLES.map((value) => ({ value, label: t.shortRoles[value] }))}
        onChoose={setRole}
        hint={t.roles[role]}
        className="[&>select]:min-h-[38px]"
      />
      <Button type="submit" kind="primary" isBusy={adding.isPending} className="min-h-[38px] md:mt-6">
        {t.add}
      </Button>
    </form>
  );
}

function problemOf(error: Error, email: string, kb: KnowledgeBase): string {
  if (error instanceof NotFound) return t.notFound(email.trim());
  if (error instanceof Refused) return t.isOwner(kb.owner_email);
  return sentencesOf(error).title;
}

function useSuggestions(typed: string, isOn: boolean): readonly string[] {
  const me = usePerson();
  const search = useDeferredValue(typed.trim());
  const query = { search, organization_id: me.organization_id, limit: 10 };
  const { data } = useQuery({
    queryKey: keys.users(query),
    queryFn: ({ signal }) => listUsers(query, signal),
    enabled: isOn && search.length >= 2,
    staleTime: 30_000,
  });
  return data?.items.filter((user) => user.is_active).map((user) => user.email) ?? [];
}
