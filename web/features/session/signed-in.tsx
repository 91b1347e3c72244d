"use client";

import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { createContext, use, useEffect, type ReactNode } from "react";

import { Failure } from "@/components/ui/failure";
import { NotSignedIn, type Me } from "@/lib/api";

import { useMe } from "./use-me";

const Person = createContext<Me | null>(null);

/** Whoever is signed in; only inside of `SignedIn`, which all pages but the sign-in are. */
export function usePerson(): Me {
  const me = use(Person);
  if (!me) throw new Error("usePerson outside of SignedIn");
  return me;
}

/** Shows the page to who is signed in, and the others the way to the sign-in and back. */
export function SignedIn({ children, waiting }: { children: ReactNode; waiting: ReactNode }) {
  const { data: me, error, refetch } = useMe();
  const isStranger = error instanceof NotSignedIn;
  const router = useRouter();
  const path = usePathname();
  const query = useSearchParams().toString();
  useEffect(() => {
    if (isStranger) router.replace(signInHref(query ? `${path}?${query}` : path));
  }, [isStranger, router, path, query]);
  if (isStranger) return waiting;
  if (me) return <Person value={me}>{children}</Person>;
  return error ? <Failure error={error} onRetry={() => void refetch()} /> : waiting;
}

/** The sign-in, and where it leads afterwards. */
export function signInHref(next: string): string {
  return next === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`;
}
