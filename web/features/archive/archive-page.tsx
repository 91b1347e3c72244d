"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { archive as t } from "@/text";

export function ArchivePage() {
  return <SheetHead title={t.title} />;
}
