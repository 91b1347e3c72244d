import type { ReactNode } from "react";

/** A titled part of the page, joined to the others by a rule. */
export function Section({ title, text, action, children }: { title: string; text?: ReactNode; action?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="border-t border-line px-4 py-6 md:px-6">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-[1_1_320px]">
          <h2 className="text-16 font-semibold">{title}</h2>
          {text && <p className="mt-0.5 max-w-[70ch] text-13 text-ink-2">{text}</p>}
        </div>
        {action}
      </div>
      <div className="mt-4">{children}</div>
    </section>
  );
}
