"use client";

import Link from "next/link";
import type { ReactNode } from "react";

import { Icon, type IconName } from "@/components/ui/icons";
import { Tooltip } from "@/components/ui/tooltip";

/** An index tab at the sheet's edge. On the rail the word is for ears and the tooltip. */
export function SideTab({
  href,
  label,
  icon,
  isCurrent,
  isRail,
  count,
  onlyOnRail = false,
}: {
  href: string;
  label: string;
  icon: IconName;
  isCurrent: boolean;
  isRail: boolean;
  count?: ReactNode;
  onlyOnRail?: boolean;
}) {
  const tab = (
    <Link href={href} className={`tab ${onlyOnRail ? "rail-only" : ""}`} aria-current={isCurrent ? "page" : undefined}>
      <Icon name={icon} />
      <bdi className="wide-only min-w-0 truncate">{label}</bdi>
      <span className="sr-only">{onlyOnRail || isRail ? label : ""}</span>
      {count !== undefined && <span className="wide-only ml-auto pl-1.5 text-12 font-normal text-ink-3">{count}</span>}
    </Link>
  );
  return isRail ? (
    <Tooltip label={label} side="right">
      {tab}
    </Tooltip>
  ) : (
    tab
  );
}
