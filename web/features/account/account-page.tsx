"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { account as t } from "@/text";

export function AccountPage() {
  return <SheetHead title={t.title} />;
}
