import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { DocumentPage } from "@/features/document/document-page";
import { document } from "@/text";

export const metadata: Metadata = { title: document.title };

export default function Page() {
  return (
    <Route>
      <DocumentPage />
    </Route>
  );
}
