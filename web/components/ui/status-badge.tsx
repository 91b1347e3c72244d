import type { ReactNode } from "react";

import type { Status } from "@/lib/api";
import { common } from "@/text";

import { classNames } from "./class-names";
import { Icon, type IconName } from "./icons";

export type BadgeStatus = Status | "warn";

const LOOKS: Record<BadgeStatus, { icon: IconName; text: string; soft: string }> = {
  pending: { icon: "waiting", text: "text-st-pending", soft: "bg-st-pending-soft" },
  processing: { icon: "running", text: "text-st-processing", soft: "bg-st-processing-soft" },
  completed: { icon: "check", text: "text-st-completed", soft: "bg-st-completed-soft" },
  failed: { icon: "alert", text: "text-st-failed", soft: "bg-st-failed-soft" },
  archived: { icon: "box", text: "text-st-archived", soft: "bg-st-archived-soft" },
  warn: { icon: "alert", text: "text-st-warn", soft: "bg-st-warn-soft" },
};

/** A shape, a word, a colour, in that order. Quiet when well: only failed is filled. `isChip` outside of tables. */
export function StatusBadge({ status, label, isChip = false }: { status: BadgeStatus; label?: ReactNode; isChip?: boolean }) {
  const { icon, text, soft } = LOOKS[status];
  const isFilled = isChip || status === "failed";
  const isQuiet = !isFilled && (status === "completed" || status === "pending");
  return (
    <span
      className={classNames(
        "inline-flex shrink-0 items-center gap-1.5 font-medium whitespace-nowrap forced-colors:border",
        text,
        isFilled && `rounded-full py-0.5 pr-2 pl-1.5 ${soft}`,
        isChip ? "text-12" : "text-13",
      )}
    >
      <Icon name={icon} size={14} className={status === "processing" ? "animate-turn" : ""} />
      <span className={isQuiet ? "font-normal text-ink-2" : ""}>{label ?? common.status[status]}</span>
    </span>
  );
}
