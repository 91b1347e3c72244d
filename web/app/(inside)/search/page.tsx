import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { SearchPage } from "@/features/search/search-page";
import { search } from "@/text";

export const metadata: Metadata = { title: search.title };

export default function Page() {
  return (
    <Route>
      <SearchPage />
    </Route>
  );
}
