import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { OperationsPage } from "@/features/operations/operations-page";
import { operations } from "@/text";

export const metadata: Metadata = { title: operations.title };

export default function Page() {
  return (
    <Route>
      <OperationsPage />
    </Route>
  );
}
