import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { KnowledgeBasesPage } from "@/features/knowledge-bases/knowledge-bases-page";
import { knowledgeBases } from "@/text";

export const metadata: Metadata = { title: knowledgeBases.title };

export default function Page() {
  return (
    <Route>
      <KnowledgeBasesPage />
    </Route>
  );
}
