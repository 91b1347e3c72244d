"use client";

import { SheetHead } from "@/components/shell/sheet-head";
import { people as t } from "@/text";

export function PeoplePage() {
  return <SheetHead title={t.title} />;
}
