import type { ReactNode } from "react";

import { classNames } from "./class-names";
import { Icon, type IconName } from "./icons";

export type BannerTone = "info" | "warn" | "failed";

const TONES: Record<BannerTone, { look: string; icon: IconName; tint: string }> = {
  info: { look: "border-petrol-line bg-petrol-soft", icon: "note", tint: "text-petrol" },
  warn: { look: "border-line-2 bg-st-warn-soft", icon: "alert", tint: "text-st-warn" },
  failed: { look: "border-wax-line bg-wax-soft", icon: "alert", tint: "text-wax" },
};

/** What needs an act stands where the thing is, and stays. A failure is read aloud at once. */
export function Banner({
  tone = "info",
  title,
  text,
  action,
  className,
}: {
  tone?: BannerTone;
  title: ReactNode;
  text?: ReactNode;
  action?: ReactNode;
  className?: string;
}) {
  const { look, icon, tint } = TONES[tone];
  return (
    <div
      role={tone === "failed" ? "alert" : "status"}
      className={classNames("flex items-start gap-2.5 rounded-control border px-3 py-2.5 text-13 text-ink", look, className)}
    >
      <Icon name={icon} className={classNames("mt-px", tint)} />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p className={text ? "font-semibold" : ""}>{title}</p>
        {text && <p className="text-ink-2">{text}</p>}
      </div>
      {action}
    </div>
  );
}
