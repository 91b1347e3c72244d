"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { search as t } from "@/text";

export function SearchPage() {
  return <SheetHead title={t.title} />;
}
