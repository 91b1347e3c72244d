"use client";

import { CheckboxField } from "@/components/ui/checkbox";
import { Segments } from "@/components/ui/tabs";
import { useKeysOn, useTheme, type Theme } from "@/lib/preferences";
import { account, shell } from "@/text";

import { Section } from "./section";

const t = account.look;
const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function LookSection() {
  const [theme, setTheme] = useTheme();
  const [isOn, setOn] = useKeysOn();
  return (
    <Section title={t.title} text={t.text}>
      <div className="grid gap-5">
        <div>
          <p aria-hidden="true" className="mb-1.5 text-13 font-semibold">
            {t.theme}
          </p>
          <Segments label={t.theme} value={theme} onChoose={setTheme} choices={THEMES.map((value) => ({ value, label: shell.themes[value] }))} />
        </div>
        <CheckboxField checked={isOn} onChange={(event) => setOn(event.target.checked)} hint={t.keysHint}>
          {t.keys}
        </CheckboxField>
      </div>
    </Section>
  );
}
