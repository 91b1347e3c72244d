import { duplicate as t } from "@/text";

/** Two dashes: this is the second of two questions. */
export function ConfirmSteps() {
  return (
    <p className="mb-2.5 flex items-center gap-2 text-12 text-ink-3">
      <span aria-hidden="true" className="h-[3px] w-[22px] rounded-[2px] bg-petrol" />
      <span aria-hidden="true" className="h-[3px] w-[22px] rounded-[2px] bg-petrol" />
      {t.confirm.step}
    </p>
  );
}
