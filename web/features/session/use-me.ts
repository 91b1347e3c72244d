"use client";

import { useQuery } from "@tanstack/react-query";

import { getMe, keys } from "@/lib/api";

/** Who is signed in. `NotSignedIn` is its error when nobody is. */
export function useMe() {
  return useQuery({ queryKey: keys.me, queryFn: ({ signal }) => getMe(signal), staleTime: 60_000, retry: false });
}
