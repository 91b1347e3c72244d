"use client";

import { useState } from "react";

import { CheckboxField } from "@/components/ui/checkbox";
import { Field } from "@/components/ui/field";
import { showToast } from "@/components/ui/toast-store";
import type { User } from "@/lib/api";
import { people as t } from "@/text";

import { FormDialog } from "@/components/ui/form-dialog";
import { isTooShort } from "./new-person-dialog";
import { usePeopleChanges } from "./use-people";

export function PasswordDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const [password, setPassword] = useState("");
  const [areTokensRevoked, setTokensRevoked] = useState(true);
  const [isTried, setTried] = useState(false);
  const { change } = usePeopleChanges();
  const submit = () => {
    setTried(true);
    if (isTooShort(password)) return;
    change.mutate(
      { id: user.id, change: { password, revoke_tokens: areTokensRevoked } },
      {
        onSuccess: () => {
          onClose();
          showToast({ text: t.password.done(user.email), icon: "key" });
        },
      },
    );
  };
  return (
    <FormDialog
      title={t.password.title(user.email)}
      action={t.password.action}
      isBusy={change.isPending}
      error={change.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t.password.label}
        type="text"
        required
        autoFocus
        autoComplete="new-password"
        spellCheck={false}
        autoCapitalize="none"
        hint={t.password.hint}
        error={isTried && isTooShort(password) ? t.tooShort : undefined}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        className="font-proof"
      />
      <CheckboxField checked={areTokensRevoked} onChange={(event) => setTokensRevoked(event.target.checked)} hint={t.password.revokeTokensHint}>
        {t.password.revokeTokens}
      </CheckboxField>
    </FormDialog>
  );
}
