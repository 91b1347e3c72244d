import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { PeoplePage } from "@/features/people/people-page";
import { people } from "@/text";

export const metadata: Metadata = { title: people.title };

export default function Page() {
  return (
    <Route>
      <PeoplePage />
    </Route>
  );
}
