"use client";

import { useId, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Field, TextArea } from "@/components/ui/field";
import type { KnowledgeBase } from "@/lib/api";
import { common, knowledgeBases } from "@/text";

import { useCreateKnowledgeBase } from "./use-knowledge-base-changes";

const t = knowledgeBases.form;

export function CreateDialog({ onClose, onMade }: { onClose: () => void; onMade: (kb: KnowledgeBase) => void }) {
  const form = useId();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [isTried, setTried] = useState(false);
  const creating = useCreateKnowledgeBase(onMade);
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
          if (!isMissing && !creating.isPending) creating.mutate({ name, description });
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
        <TextArea
          label={t.description}
          hint={t.descriptionHint}
          maxLength={2000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </form>
    </Dialog>
  );
}
