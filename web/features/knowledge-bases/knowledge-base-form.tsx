"use client";

import { useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Field } from "@/components/ui/field";
import type { KnowledgeBase } from "@/lib/api";
import { knowledgeBases } from "@/text";

import { useCreateKnowledgeBase } from "./use-knowledge-base-changes";

const t = knowledgeBases.form;

/** One line and a button: all that a new knowledge base needs. */
export function KnowledgeBaseForm({ onMade }: { onMade: (kb: KnowledgeBase) => void }) {
  const [name, setName] = useState("");
  const [isTried, setTried] = useState(false);
  const creating = useCreateKnowledgeBase(onMade);
  const isMissing = name.trim() === "";
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!isMissing && !creating.isPending) creating.mutate({ name, description: "" });
      }}
      className="grid gap-3"
    >
      {creating.error && <Banner tone="failed" {...sentencesOf(creating.error)} />}
      <Field
        label={t.name}
        name="name"
        placeholder={t.namePlaceholder}
        autoComplete="off"
        maxLength={200}
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={isTried && isMissing ? t.nameMissing : undefined}
      />
      <Button type="submit" kind="primary" isBusy={creating.isPending} className="justify-self-start">
        {t.make}
      </Button>
    </form>
  );
}
