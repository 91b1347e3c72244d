"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { knowledgeBases as t } from "@/text";

export function KnowledgeBasesPage() {
  return <SheetHead title={t.title} />;
}
