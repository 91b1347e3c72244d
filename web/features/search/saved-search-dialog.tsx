"use client";

import { useState } from "react";

import { Field } from "@/components/ui/field";
import { FormDialog } from "@/components/ui/form-dialog";
import { showToast } from "@/components/ui/toast-store";
import { withName } from "@/components/ui/with-name";
import type { SavedCriteria, SavedSearch } from "@/lib/api";
import { common, search } from "@/text";

import { useSavedSearchChanges } from "./use-saved-searches";

const t = search.saved;
const LONGEST = 100;

/** The name of a new saved search, or another name for one. */
export function SavedSearchDialog({
  renamed,
  criteria,
  onClose,
  onSaved,
}: {
  renamed: SavedSearch | null;
  /** What a new one saves. */
  criteria: SavedCriteria;
  onClose: () => void;
  onSaved: (saved: SavedSearch) => void;
}) {
  const [name, setName] = useState((renamed?.name ?? criteria.q).slice(0, LONGEST));
  const [isTried, setTried] = useState(false);
  const { save, alter } = useSavedSearchChanges();
  const words = renamed ? t.rename : t.make;
  const isMissing = name.trim() === "";
  const onSuccess = (saved: SavedSearch) => {
    onClose();
    onSaved(saved);
    showToast({ text: withName(words.done, saved.name), icon: "check" });
  };
  const submit = () => {
    setTried(true);
    if (isMissing) return;
    if (renamed) alter.mutate({ id: renamed.id, name }, { onSuccess });
    else save.mutate({ name, parameters: criteria }, { onSuccess });
  };
  const changing = renamed ? alter : save;
  return (
    <FormDialog
      title={renamed ? withName(t.rename.title, renamed.name) : t.make.title}
      action={renamed ? t.rename.action : common.save}
      isBusy={changing.isPending}
      error={changing.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t.name}
        hint={renamed ? undefined : t.hint}
        error={isTried && isMissing ? t.nameMissing : undefined}
        required
        autoFocus
        autoComplete="off"
        maxLength={LONGEST}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onFocus={(event) => event.target.select()}
      />
    </FormDialog>
  );
}
