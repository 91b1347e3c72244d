"use client";

import { useId, useRef, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Field } from "@/components/ui/field";
import { SelectField } from "@/components/ui/select";
import type { TokenCreated } from "@/lib/api";
import { account, common } from "@/text";

import { useCreateToken } from "./use-tokens";

const t = account.tokens;
const DAYS = { "7": t.days(7), "30": t.days(30), "90": t.days(90), "365": t.year, "1825": t.years(5) } as const;
type Days = keyof typeof DAYS;
const CHOICES = (Object.keys(DAYS) as Days[]).map((value) => ({ value, label: DAYS[value] }));

/** First what it is for, then the token itself, once. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const creating = useCreateToken();
  return creating.data ? <Made token={creating.data} onClose={onClose} /> : <Wanted creating={creating} onClose={onClose} />;
}

function Wanted({ creating, onClose }: { creating: ReturnType<typeof useCreateToken>; onClose: () => void }) {
  const form = useId();
  const [name, setName] = useState("");
  const [days, setDays] = useState<Days>("90");
  const [isTried, setTried] = useState(false);
  const isMissing = name.trim() === "";
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.createTitle}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" form={form} kind="primary" isBusy={creating.isPending}>
            {t.make}
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (!isMissing && !creating.isPending) creating.mutate({ name, days: Number(days) });
        }}
        className="grid gap-4"
      >
        {creating.error && <Banner tone="failed" {...sentencesOf(creating.error)} />}
        <Field
          label={t.name}
          placeholder={t.namePlaceholder}
          autoComplete="off"
          maxLength={200}
          required
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={isTried && isMissing ? t.nameMissing : undefined}
        />
        <SelectField label={t.expires} value={days} choices={CHOICES} onChoose={setDays} />
      </form>
    </Dialog>
  );
}

function Made({ token, onClose }: { token: TokenCreated; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={<bdi>{t.madeTitle(token.name)}</bdi>}
      description={t.madeText}
      focusFirst={field}
      foot={
        <>
          <CopyButton value={token.token} />
          <Button kind="primary" onClick={onClose}>
            {t.done}
          </Button>
        </>
      }
    >
      <Field
        ref={field}
        label={t.madeLabel}
        readOnly
        spellCheck={false}
        value={token.token}
        onFocus={(event) => event.target.select()}
        className="font-proof text-13"
      />
    </Dialog>
  );
}
