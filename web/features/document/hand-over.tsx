import { buttonClass } from "@/components/ui/button";
import { Icon, type IconName } from "@/components/ui/icons";
import { Time } from "@/components/ui/time";
import type { Document } from "@/lib/api";
import { document as text } from "@/text";

import { webLink } from "./kinds";

const t = text.handOver;

const STATES: Readonly<Record<string, { title: string; words: string; icon: IconName; tint: string }>> = {
  archived: { title: t.archived, words: t.archivedText, icon: "seal", tint: "text-st-completed" },
  pending: { title: t.pending, words: t.pendingText, icon: "waiting", tint: "text-st-processing" },
  failed: { title: t.failed, words: t.failedText, icon: "alert", tint: "text-wax" },
};

/** How the hand-over to Paperless stands; nothing for a document that nobody wants to hand over. */
export function HandOver({ document }: { document: Document }) {
  const state = document.archive_status ? STATES[document.archive_status] : undefined;
  if (!state) return null;
  const link = webLink(document.paperless_doc_url);
  return (
    <section aria-label={state.title} className="mb-3 rounded-sheet border border-line-2 bg-sunk p-3">
      <div className="flex gap-2.5">
        <Icon name={state.icon} size={20} className={state.tint} />
        <div className="min-w-0">
          <h3 className="font-semibold">{state.title}</h3>
          <p className="mt-px text-12 text-ink-3">
            {state.words}
            {document.handed_over_at && (
              <>
                {", "}
                <Time at={document.handed_over_at} />
              </>
            )}
          </p>
        </div>
      </div>
      {link && (
        <a href={link} target="_blank" rel="noreferrer noopener" className={`${buttonClass({ size: "small" })} mt-2.5 w-full`}>
          {t.open}
          <Icon name="link" />
        </a>
      )}
    </section>
  );
}
