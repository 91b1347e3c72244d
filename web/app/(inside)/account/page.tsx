import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { AccountPage } from "@/features/account/account-page";
import { account } from "@/text";

export const metadata: Metadata = { title: account.title };

export default function Page() {
  return (
    <Route>
      <AccountPage />
    </Route>
  );
}
