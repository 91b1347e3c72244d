import type { ReactNode } from "react";

import { Icon, type IconName } from "./icons";

/** One line what would stand here, one action. */
export function Empty({ icon, title, text, action }: { icon?: IconName; title: ReactNode; text?: ReactNode; action?: ReactNode }) {
  return (
    <div className="grid justify-items-center gap-2 px-6 py-12 text-center text-ink-2">
      {icon && <Icon name={icon} size={24} className="text-ink-3" />}
      <p className="text-16 font-semibold text-balance text-ink [overflow-wrap:anywhere]">{title}</p>
      {text && <p className="max-w-[60ch] text-13 [overflow-wrap:anywhere]">{text}</p>}
      {action && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
