"use client";

import { useId, useState } from "react";

import { Banner } from "@/components/ui/banner";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Field, TextArea } from "@/components/ui/field";
import { SelectField } from "@/components/ui/select";
import { showToast } from "@/components/ui/toast-store";
import type { HandOverPolicy, KnowledgeBase } from "@/lib/api";
import { common, knowledgeBases } from "@/text";

import { useChangeKnowledgeBase } from "./use-knowledge-base-changes";

const t = knowledgeBases.form;
const POLICIES: readonly HandOverPolicy[] = ["never", "on_completed", "on_archived"];

/** Name, description, and when its documents go to the long-term archive. */
export function SettingsDialog({ kb, onClose }: { kb: KnowledgeBase; onClose: () => void }) {
  const form = useId();
  const [name, setName] = useState(kb.name);
  const [description, setDescription] = useState(kb.description);
  const [policy, setPolicy] = useState(kb.hand_over_policy);
  const saving = useChangeKnowledgeBase(kb.id, (saved) => {
    showToast({ text: t.saved(saved.name), icon: "check" });
    onClose();
  });
  const isMissing = name.trim() === "";
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={<bdi>{t.settingsTitle(kb.name)}</bdi>}
      foot={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" form={form} kind="primary" isBusy={saving.isPending}>
            {t.save}
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isMissing && !saving.isPending) saving.mutate({ name, description, hand_over_policy: policy });
        }}
        className="grid gap-4"
      >
        {saving.error && <Banner tone="failed" {...sentencesOf(saving.error)} />}
        <Field
          label={t.name}
          autoComplete="off"
          maxLength={200}
          required
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={isMissing ? t.nameMissing : undefined}
        />
        <TextArea
          label={t.description}
          hint={t.descriptionHint}
          maxLength={2000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <SelectField
          label={t.policy}
          hint={t.policyHint}
          value={policy}
          choices={POLICIES.map((value) => ({ value, label: t.policies[value] }))}
          onChoose={setPolicy}
        />
      </form>
    </Dialog>
  );
}
