"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { usePerson } from "@/features/session/signed-in";
import { PasswordField } from "@/features/sign-in/password-field";
import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { CheckboxField } from "@/components/ui/checkbox";
import { sentencesOf } from "@/components/ui/error-sentences";
import { showToast } from "@/components/ui/toast-store";
import { changePassword, keys, PermissionDenied } from "@/lib/api";
import { account } from "@/text";

import { Section } from "./section";

const t = account.password;
const SHORTEST = 8;

export function PasswordSection() {
  const me = usePerson();
  const client = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [areTokensRevoked, setTokensRevoked] = useState(true);
  const [isTried, setTried] = useState(false);
  const changing = useMutation({
    mutationFn: () => changePassword(next, me.has_password ? current : undefined, areTokensRevoked),
    onSuccess: () => {
      setCurrent("");
      setNext("");
      setTokensRevoked(true);
      setTried(false);
      showToast({ text: t.changed, icon: "check" });
      return Promise.all([client.invalidateQueries({ queryKey: keys.me }), client.invalidateQueries({ queryKey: keys.tokens() })]);
    },
  });
  const isShort = [...next].length < SHORTEST;
  const isWrong = changing.error instanceof PermissionDenied;
  return (
    <Section title={t.title} text={me.has_password ? t.text : t.firstText}>
      <form
        noValidate
        className="grid max-w-[340px] gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (!isShort && !changing.isPending) changing.mutate();
        }}
      >
        {changing.error && !isWrong && <Banner tone="failed" {...sentencesOf(changing.error)} />}
        <input type="email" name="email" autoComplete="username" value={me.email} readOnly hidden />
        {me.has_password && (
          <PasswordField
            label={t.current}
            name="current_password"
            autoComplete="current-password"
            value={current}
            onValue={setCurrent}
            error={isWrong ? t.wrong : undefined}
          />
        )}
        <PasswordField
          label={t.next}
          name="new_password"
          autoComplete="new-password"
          minLength={SHORTEST}
          value={next}
          onValue={setNext}
          hint={t.nextHint}
          error={isTried && isShort ? t.tooShort : undefined}
        />
        {me.has_password && (
          <CheckboxField checked={areTokensRevoked} onChange={(event) => setTokensRevoked(event.target.checked)} hint={t.revokeTokensHint}>
            {t.revokeTokens}
          </CheckboxField>
        )}
        <Button type="submit" isBusy={changing.isPending} className="justify-self-start">
          {me.has_password ? t.change : t.set}
        </Button>
      </form>
    </Section>
  );
}
