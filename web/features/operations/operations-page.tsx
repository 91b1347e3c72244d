"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { operations as t } from "@/text";

export function OperationsPage() {
  return <SheetHead title={t.title} />;
}
