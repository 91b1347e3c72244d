"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { documents as t } from "@/text";

export function DocumentsPage() {
  return <SheetHead title={t.title} />;
}
