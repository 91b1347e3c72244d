"use client";

import { useState } from "react";

import { Field } from "@/components/ui/field";
import { showToast } from "@/components/ui/toast-store";
import type { Organization } from "@/lib/api";
import { people as t } from "@/text";

import { FormDialog } from "@/components/ui/form-dialog";
import { usePeopleChanges } from "./use-people";

/** A new organization, or another name for one. */
export function OrganizationDialog({ organization, onClose }: { organization: Organization | null; onClose: () => void }) {
  const [name, setName] = useState(organization?.name ?? "");
  const { createOrganization, renameOrganization } = usePeopleChanges();
  const words = organization ? t.organizations.rename : t.organizations.create;
  const changing = organization ? renameOrganization : createOrganization;
  const onSuccess = (changed: Organization) => {
    onClose();
    showToast({ text: words.done(changed.name), icon: "check" });
  };
  const submit = () => {
    if (organization) renameOrganization.mutate({ id: organization.id, name }, { onSuccess });
    else createOrganization.mutate(name, { onSuccess });
  };
  return (
    <FormDialog
      title={organization ? t.organizations.rename.title(organization.name) : t.organizations.create.title}
      action={words.action}
      isBusy={changing.isPending}
      error={changing.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.label} required autoFocus maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
    </FormDialog>
  );
}
