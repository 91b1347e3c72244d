"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { document as t } from "@/text";

export function DocumentPage() {
  return <SheetHead title={t.title} />;
}
