"use client";

import type { ReactNode } from "react";

import type { KnowledgeBase } from "@/lib/api";
import { welcome as t } from "@/text";

import { Step, Steps } from "./steps";

/** The second of the three steps, where the documents will stand: `children` is the place to drop them. */
export function FirstDocuments({ kb, children }: { kb: KnowledgeBase; children: ReactNode }) {
  return (
    <div className="mx-auto w-full max-w-[680px] px-4 pb-10 md:px-6">
      <Steps>
        <Step number={1} state="done" title={t.made}>
          <bdi>{t.madeText(kb.name)}</bdi>
        </Step>
        <Step number={2} state="now" title={t.bring}>
          <div className="mt-3">{children}</div>
        </Step>
        <Step number={3} state="later" title={t.find}>
          {t.findText}
        </Step>
      </Steps>
      <p className="flex flex-wrap gap-x-6 gap-y-2 border-t border-line pt-4 text-13 text-ink-2 coarse:hidden">
        <Key name="Ctrl K">{t.keys.palette}</Key>
        <Key name="U">{t.keys.upload}</Key>
        <Key name="?">{t.keys.help}</Key>
      </p>
    </div>
  );
}

function Key({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-2">
      <kbd>{name}</kbd> {children}
    </span>
  );
}
