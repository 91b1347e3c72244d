"use client";

import { Mark } from "@/components/ui/mark";
import { common, signIn as t } from "@/text";

import { Indenture } from "./indenture";
import { PasswordForm } from "./password-form";
import { SetPasswordForm } from "./set-password-form";
import { useArrival } from "./use-arrival";

/** The two halves of the deed: the form on one, its counterpart on the other. */
export function SignInPage() {
  const arrival = useArrival();
  return (
    <div className="grid min-h-dvh bg-sheet md:grid-cols-[minmax(420px,595fr)_685fr]">
      <main className="flex min-h-dvh flex-col px-6 pt-6 pb-8 md:px-10 md:pt-[30px]">
        <div className="flex items-center gap-2.5">
          <Mark size={30} />
          <span className="font-doc text-20 font-semibold">{common.product}</span>
        </div>
        <div className="mx-auto my-auto w-full max-w-[340px] py-10">
          {arrival.state === "opening" && (
            <p role="status" className="late text-ink-2">
              {t.opening}
            </p>
          )}
          {arrival.state === "stranger" && <PasswordForm problem={arrival.problem} onDone={arrival.enter} />}
          {arrival.state === "without-password" && <SetPasswordForm me={arrival.me} onDone={arrival.leave} />}
        </div>
      </main>
      <Indenture />
    </div>
  );
}
