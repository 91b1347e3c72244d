import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { DocumentsPage } from "@/features/documents/documents-page";
import { documents } from "@/text";

export const metadata: Metadata = { title: documents.title };

export default function Page() {
  return (
    <Route>
      <DocumentsPage />
    </Route>
  );
}
