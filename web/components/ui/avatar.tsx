import { initialsOf } from "@/lib/format";

import { classNames } from "./class-names";

/** Initials of somebody; whoever uses it says the name beside it or in a label. */
export function Avatar({ email, size = 26 }: { email: string; size?: 22 | 26 }) {
  return (
    <span
      aria-hidden="true"
      className={classNames(
        "inline-grid shrink-0 place-items-center rounded-full border border-line-2 bg-desk-2 font-semibold tracking-wide text-ink-2",
        size === 26 ? "size-[26px] text-[10.5px]" : "size-[22px] text-[9.5px]",
      )}
    >
      {initialsOf(email)}
    </span>
  );
}
