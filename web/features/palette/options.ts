import type { IconName } from "@/components/ui/icons";
import type { Span } from "@/lib/spans";

export type GroupName = "actions" | "documents" | "knowledgeBases" | "passages";

/** One line of the palette. */
export interface Option {
  id: string;
  group: GroupName;
  label: string;
  spans: readonly Span[];
  icon: IconName;
  /** At the right: where it belongs. */
  hint?: string;
  /** At the right: the key that does the same. */
  keys?: string;
  /** After the palette has gone and the focus is back where it was. */
  run: () => void;
}
