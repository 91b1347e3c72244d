/** Where one can go, and who may. What a right does not allow is absent. */
import { managesPeople, operates, seesArchive, seesOperations } from "@/features/session/rights";
import type { IconName } from "@/components/ui/icons";
import type { KnowledgeBase, Me } from "@/lib/api";
import { shell } from "@/text";

export interface Place {
  href: string;
  label: string;
  icon: IconName;
}

export interface Places {
  everyday: readonly Place[];
  administration: readonly Place[];
}

export function placesOf(me: Me, knowledgeBases: readonly KnowledgeBase[]): Places {
  const owns = seesArchive(me, knowledgeBases);
  return {
    everyday: [
      { href: "/search", label: shell.search, icon: "search" },
      ...(owns ? ([{ href: "/archive", label: shell.archive, icon: "box" }] as const) : []),
      // Operators read the trail of the installation there.
      ...(owns || operates(me) ? ([{ href: "/audit", label: shell.audit, icon: "ledger" }] as const) : []),
    ],
    administration: [
      ...(managesPeople(me) ? ([{ href: "/people", label: shell.people, icon: "people" }] as const) : []),
      ...(seesOperations(me) ? ([{ href: "/operations", label: shell.operations, icon: "gauge" }] as const) : []),
    ],
  };
}
