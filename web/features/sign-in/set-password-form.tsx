"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { sentencesOf } from "@/components/ui/error-sentences";
import { changePassword, keys, type Me } from "@/lib/api";
import { signIn as t } from "@/text";

import { PasswordField } from "./password-field";

const SHORTEST = 8;

/** Who came by a one-time link has no password yet, and the link is spent. */
export function SetPasswordForm({ me, onDone }: { me: Me; onDone: () => void }) {
  const [password, setPassword] = useState("");
  const [isTried, setTried] = useState(false);
  const client = useQueryClient();
  const setting = useMutation({
    mutationFn: () => changePassword(password),
    onSuccess: () => {
      client.setQueryData(keys.me, { ...me, has_password: true });
      onDone();
    },
  });
  const isShort = [...password].length < SHORTEST;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!isShort && !setting.isPending) setting.mutate();
      }}
    >
      <h1 className="font-doc text-[30px] leading-9 font-semibold tracking-[-0.012em]">{t.welcome}</h1>
      <p className="mt-1 text-ink-2 [overflow-wrap:anywhere]">{t.choose(me.email)}</p>
      <div className="mt-6 grid gap-5">
        {setting.error && <Banner tone="failed" {...sentencesOf(setting.error)} />}
        {/* Beside the new password, so that a password manager keeps both. */}
        <input type="email" name="email" autoComplete="username" value={me.email} readOnly hidden />
        <PasswordField
          label={t.newPassword}
          name="new_password"
          autoComplete="new-password"
          autoFocus
          minLength={SHORTEST}
          value={password}
          onValue={setPassword}
          hint={t.newPasswordHint}
          error={isTried && isShort ? t.tooShort : undefined}
        />
        <div className="grid gap-2">
          <Button type="submit" kind="primary" size="large" isBusy={setting.isPending}>
            {t.setPassword}
          </Button>
          <Button kind="bare" onClick={onDone}>
            {t.later}
          </Button>
        </div>
      </div>
    </form>
  );
}
