"use client";

import { useState } from "react";

import { CheckboxField } from "@/components/ui/checkbox";
import { Field } from "@/components/ui/field";
import { SelectField } from "@/components/ui/select";
import { showToast } from "@/components/ui/toast-store";
import { usePerson } from "@/features/session/signed-in";
import { people as t } from "@/text";

import { FormDialog } from "@/components/ui/form-dialog";
import { useOrganizations, usePeopleChanges } from "./use-people";

const SHORTEST = 8;

/** Whether a password is long enough, as the server counts. */
export const isTooShort = (password: string): boolean => [...password].length < SHORTEST;

export function NewPersonDialog({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const me = usePerson();
  const [person, setPerson] = useState({ email: "", password: "", organization_id: organizationId || me.organization_id, is_admin: false, is_operator: false });
  const [isTried, setTried] = useState(false);
  const { data: organizations } = useOrganizations(me.is_operator);
  const { create } = usePeopleChanges();
  const change = (part: Partial<typeof person>) => setPerson((before) => ({ ...before, ...part }));
  const submit = () => {
    setTried(true);
    if (isTooShort(person.password)) return;
    create.mutate(
      { ...person, email: person.email.trim() },
      {
        onSuccess: (user) => {
          onClose();
          showToast({ text: t.create.done(user.email), icon: "check" });
        },
      },
    );
  };
  return (
    <FormDialog title={t.create.title} action={t.create.action} isBusy={create.isPending} error={create.error} onSubmit={submit} onClose={onClose}>
      <Field
        label={t.create.email}
        type="email"
        required
        autoFocus
        autoComplete="off"
        value={person.email}
        onChange={(event) => change({ email: event.target.value })}
      />
      <Field
        label={t.create.password}
        type="text"
        required
        autoComplete="new-password"
        spellCheck={false}
        autoCapitalize="none"
        hint={t.create.passwordHint}
        error={isTried && isTooShort(person.password) ? t.tooShort : undefined}
        value={person.password}
        onChange={(event) => change({ password: event.target.value })}
        className="font-proof"
      />
      {me.is_operator && organizations && (
        <SelectField
          label={t.organization}
          value={person.organization_id}
          choices={organizations.items.map((one) => ({ value: one.id, label: one.name }))}
          onChoose={(organization_id) => change({ organization_id })}
        />
      )}
      <CheckboxField checked={person.is_admin} onChange={(event) => change({ is_admin: event.target.checked })} hint={t.create.adminHint}>
        {t.create.admin}
      </CheckboxField>
      {me.is_operator && (
        <CheckboxField checked={person.is_operator} onChange={(event) => change({ is_operator: event.target.checked })} hint={t.create.operatorHint}>
          {t.create.operator}
        </CheckboxField>
      )}
    </FormDialog>
  );
}
