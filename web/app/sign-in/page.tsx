import type { Metadata } from "next";

import { Route } from "@/components/shell/route";
import { SignInPage } from "@/features/sign-in/sign-in-page";
import { signIn } from "@/text";

export const metadata: Metadata = { title: signIn.title };

export default function Page() {
  return (
    <Route>
      <SignInPage />
    </Route>
  );
}
