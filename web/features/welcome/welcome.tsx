"use client";

import { useRouter } from "next/navigation";

import { useTitle } from "@/components/shell/sheet-head";
import { KnowledgeBaseForm } from "@/features/knowledge-bases/knowledge-base-form";
import { hrefOfKnowledgeBase } from "@/lib/hrefs";
import { welcome as t } from "@/text";

import { Step, Steps } from "./steps";

/** For who sees no knowledge base yet. The second step goes on where the documents will stand. */
export function Welcome() {
  const router = useRouter();
  useTitle(t.title);
  return (
    <div className="mx-auto w-full max-w-[632px] px-4 py-10 md:px-6 md:pt-[12vh]">
      <h1 className="font-doc text-26 font-semibold tracking-[-0.012em]">{t.title}</h1>
      <p className="mt-1 text-16 text-ink-2">{t.subtitle}</p>
      <Steps>
        <Step number={1} state="now" title={t.make}>
          <p className="mb-4">{t.makeText}</p>
          <KnowledgeBaseForm onMade={(kb) => router.push(hrefOfKnowledgeBase(kb.id))} />
        </Step>
        <Step number={2} state="later" title={t.bring}>
          {t.bringText}
        </Step>
        <Step number={3} state="later" title={t.find}>
          {t.findText}
        </Step>
      </Steps>
    </div>
  );
}
