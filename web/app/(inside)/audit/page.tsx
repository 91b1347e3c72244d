import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { AuditPage } from "@/features/audit/audit-page";
import { audit } from "@/text";

export const metadata: Metadata = { title: audit.title };

export default function Page() {
  return (
    <Route>
      <AuditPage />
    </Route>
  );
}
