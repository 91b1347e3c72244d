import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { ArchivePage } from "@/features/archive/archive-page";
import { archive } from "@/text";

export const metadata: Metadata = { title: archive.title };

export default function Page() {
  return (
    <Route>
      <ArchivePage />
    </Route>
  );
}
