"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { audit as t } from "@/text";

export function AuditPage() {
  return <SheetHead title={t.title} />;
}
