"use client";

import { usePerson } from "@/features/session/signed-in";
import { SheetHead } from "@/components/shell/sheet-head";
import { account as t } from "@/text";

import { LookSection } from "./look-section";
import { PasswordSection } from "./password-section";
import { Section } from "./section";
import { TokensSection } from "./tokens-section";

export function AccountPage() {
  return (
    <>
      <SheetHead title={t.title} />
      <Who />
      <TokensSection />
      <PasswordSection />
      <LookSection />
    </>
  );
}

function Who() {
  const me = usePerson();
  const rights = [me.is_admin && t.rightsOf.admin, me.is_operator && t.rightsOf.operator].filter(Boolean);
  return (
    <Section title={t.who}>
      <dl className="grid gap-x-6 gap-y-1 text-14 [overflow-wrap:anywhere] md:grid-cols-[140px_minmax(0,1fr)]">
        <dt className="text-ink-3">{t.email}</dt>
        <dd>
          <bdi>{me.email}</bdi>
        </dd>
        <dt className="text-ink-3 max-md:mt-2">{t.organization}</dt>
        <dd>
          <bdi>{me.organization_name}</bdi>
        </dd>
        <dt className="text-ink-3 max-md:mt-2">{t.rights}</dt>
        {(rights.length > 0 ? rights : [t.rightsOf.person]).map((right) => (
          <dd key={String(right)} className="md:col-start-2">
            {right}
          </dd>
        ))}
      </dl>
    </Section>
  );
}
