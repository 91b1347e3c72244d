"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Field } from "@/components/ui/field";
import { signIn, type Me } from "@/lib/api";
import { signIn as t } from "@/text";

import { PasswordField } from "./password-field";

export function PasswordForm({ problem, onDone }: { problem: unknown; onDone: (me: Me) => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const entering = useMutation({ mutationFn: () => signIn(email, password), onSuccess: onDone });
  const error = entering.error ?? (entering.isIdle ? problem : null);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!entering.isPending) entering.mutate();
      }}
    >
      <h1 className="font-doc text-[30px] leading-9 font-semibold tracking-[-0.012em]">{t.title}</h1>
      <div className="mt-6 grid gap-5">
        {error !== null && <Banner tone="failed" {...sentencesOf(error)} />}
        <Field
          label={t.email}
          type="email"
          name="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <PasswordField label={t.password} name="password" autoComplete="current-password" value={password} onValue={setPassword} />
        <Button type="submit" kind="primary" size="large" isBusy={entering.isPending}>
          {t.action}
        </Button>
      </div>
      <p className="mt-4 text-12 text-ink-3">{t.forgotten}</p>
    </form>
  );
}
