"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Field } from "@/components/ui/field";
import { SelectField } from "@/components/ui/select";
import { SeveralOrganizations, signIn, type Me, type OrganizationChoice } from "@/lib/api";
import { signIn as t } from "@/text";

import { PasswordField } from "./password-field";

/** Where an address and a password open several accounts: their organizations, and the one to sign in to. */
interface Choice {
  organizations: readonly OrganizationChoice[];
  chosen: string;
}

export function PasswordForm({ problem, onDone }: { problem: unknown; onDone: (me: Me) => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [choice, setChoice] = useState<Choice | null>(null);
  const entering = useMutation({
    mutationFn: () => signIn(email, password, choice?.chosen),
    onSuccess: onDone,
    onError: (error) => setChoice((before) => choiceOf(error) ?? before),
  });
  const error = entering.error ?? (entering.isIdle ? problem : null);
  const isAsked = error instanceof SeveralOrganizations;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!entering.isPending) entering.mutate();
      }}
    >
      <h1 className="font-doc text-[30px] leading-9 font-semibold tracking-[-0.012em]">{t.title}</h1>
      <div className="mt-6 grid gap-5">
        {error !== null && (!isAsked || choice) && <Banner tone={isAsked ? "info" : "failed"} {...sentencesOf(error)} />}
        <Field
          label={t.email}
          type="email"
          name="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={(event) => {
            setEmail(event.target.value);
            setChoice(null); // it belongs to the address and the password that were sent
          }}
        />
        <PasswordField
          label={t.password}
          name="password"
          autoComplete="current-password"
          value={password}
          onValue={(value) => {
            setPassword(value);
            setChoice(null);
          }}
        />
        {choice && (
          <SelectField
            label={t.organization}
            name="organization"
            autoFocus
            value={choice.chosen}
            choices={choice.organizations.map(({ id, name }) => ({ value: id, label: name }))}
            onChoose={(chosen) => setChoice({ ...choice, chosen })}
            className="[&>select]:min-h-[38px]"
          />
        )}
        <Button type="submit" kind="primary" size="large" isBusy={entering.isPending}>
          {t.action}
        </Button>
      </div>
      <p className="mt-4 text-12 text-ink-3">{t.forgotten}</p>
    </form>
  );
}

function choiceOf(error: unknown): Choice | null {
  const organizations = error instanceof SeveralOrganizations ? error.organizations : [];
  return organizations[0] ? { organizations, chosen: organizations[0].id } : null;
}
