import { classNames } from "@/components/ui/class-names";
import { archive as t } from "@/text";

/** Two dashes: how far one is from what cannot be undone. */
export function Steps({ step }: { step: 1 | 2 }) {
  return (
    <p className="mb-2.5 flex items-center gap-2 text-12 text-ink-3">
      {[1, 2].map((one) => (
        <span key={one} aria-hidden="true" className={classNames("h-[3px] w-[22px] rounded-[2px]", one <= step ? "bg-wax" : "bg-line-2")} />
      ))}
      {t.purge.step(step)}
    </p>
  );
}
