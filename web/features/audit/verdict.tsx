"use client";

import { Banner } from "@/components/ui/banner";
import { sentencesOf } from "@/components/ui/error-sentences";
import { IconButton } from "@/components/ui/button";
import type { Verdict } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { audit as t, common } from "@/text";

/** What the check of the whole chain found. It stays until it is put away. */
export function VerdictBanner({ verdict, error, onDismiss }: { verdict: Verdict | undefined; error: unknown; onDismiss: () => void }) {
  const dismiss = <IconButton label={common.dismiss} icon="close" size="small" tooltip={false} onClick={onDismiss} />;
  if (error) return <Banner tone="failed" {...sentencesOf(error)} action={dismiss} className="mx-4 mb-3 md:mx-6" />;
  if (!verdict) return null;
  if (verdict.is_intact) {
    const text = t.verify.intactText(verdict.events, formatCount(verdict.signed_seq), verdict.unsealed);
    return <Banner tone="info" title={t.verify.intact} text={text} action={dismiss} className="mx-4 mb-3 md:mx-6" />;
  }
  const problems = (
    <>
      {verdict.problems.map((problem, index) => (
        <span key={index} className="block">
          {t.verify.problem(problem.seq === null ? null : formatCount(problem.seq), problem.sentence)}
        </span>
      ))}
      {t.verify.brokenText}
    </>
  );
  return <Banner tone="failed" title={t.verify.broken(verdict.problem_count)} text={problems} action={dismiss} className="mx-4 mb-3 md:mx-6" />;
}
