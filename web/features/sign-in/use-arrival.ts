"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";

import { getMe, keys, NotSignedIn, redeemLink, type Me } from "@/lib/api";

export type Arrival =
  | { state: "opening" }
  /** `problem`: why the one-time link did not open. */
  | { state: "stranger"; problem: unknown }
  | { state: "without-password"; me: Me };

/** Who comes, and by which way: a one-time link, a session that still is one, or nothing. */
export function useArrival(): Arrival & { enter: (me: Me) => void; leave: () => void } {
  const [arrival, setArrival] = useState<Arrival>({ state: "opening" });
  const client = useQueryClient();
  const router = useRouter();
  const hasBegun = useRef(false); // a link can be spent once, and React runs effects twice while developing

  const leave = () => router.replace(destination());
  const enter = (me: Me) => {
    client.setQueryData(keys.me, me);
    if (me.has_password) leave();
    else setArrival({ state: "without-password", me });
  };
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    const token = takeToken();
    void (token === null ? getMe() : redeemLink(token)).then(enter, (problem: unknown) => {
      // Not being signed in is why one comes here; a link that was spent already says so in the same way.
      const isNews = token !== null || !(problem instanceof NotSignedIn);
      setArrival({ state: "stranger", problem: isNews ? problem : null });
    });
  });
  return { ...arrival, enter, leave };
}

/** The secret stands behind the #, which no browser sends: it reaches no log, and leaves the address bar at once. */
function takeToken(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get("token");
  if (token !== null) window.history.replaceState(null, "", window.location.pathname + window.location.search);
  return token;
}

/** Where one wanted to go. Only to pages of ours: `next` stands in an address that anybody can write. */
export function destination(search = window.location.search): string {
  const next = new URLSearchParams(search).get("next") ?? "/";
  const url = URL.canParse(next, window.location.origin) ? new URL(next, window.location.origin) : null;
  const isOurs = next.startsWith("/") && url?.origin === window.location.origin && url.pathname !== "/sign-in";
  return isOurs && url ? url.pathname + url.search : "/";
}
