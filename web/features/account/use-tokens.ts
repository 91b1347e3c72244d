"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { createToken, keys, listTokens, revokeToken } from "@/lib/api";

const MOST = { limit: 100 };

export function useTokens() {
  return useQuery({ queryKey: keys.tokens(MOST), queryFn: ({ signal }) => listTokens(MOST, signal) });
}

export function useCreateToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, days }: { name: string; days: number }) => createToken(name, days),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.tokens() }),
  });
}

export function useRevokeToken(): (tokenId: string) => Promise<unknown> {
  const client = useQueryClient();
  return async (tokenId) => {
    await revokeToken(tokenId);
    await client.invalidateQueries({ queryKey: keys.tokens() });
  };
}
