"use client";

import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";

import { Toasts } from "@/components/ui/toasts";
import { preloadDeferred } from "@/components/ui/deferred";
import { TooltipLayer } from "@/components/ui/tooltip";
import { isPassing, keys, NotSignedIn } from "@/lib/api";
import { showTheme } from "@/lib/preferences";

const LATER_MS = 1_500;

/** Around every page: answers that are kept, tooltips, toasts, the theme of the system. */
export function Providers({ children }: { children: ReactNode }) {
  const [client] = useState(newClient);
  useSystemTheme();
  useLateCode();
  return (
    <QueryClientProvider client={client}>
      {children}
      <Toasts />
      <TooltipLayer />
    </QueryClientProvider>
  );
}

function newClient(): QueryClient {
  // A session that has ended is noticed at whatever is asked next, and leads to the sign-in from anywhere.
  const onError = (error: unknown) => {
    if (error instanceof NotSignedIn && client.getQueryData(keys.me)) void client.resetQueries({ queryKey: keys.me });
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // What passes by itself is waited for; a refusal is a refusal the third time, too.
        retry: (failures, error) => isPassing(error) && failures < 4,
        retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 8_000),
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

/** Menus and dialogs come when the first page stands: nobody waits for them, and they are there when the server is not. */
function useLateCode(): void {
  useEffect(() => {
    const timer = setTimeout(() => void preloadDeferred(), LATER_MS);
    return () => clearTimeout(timer);
  }, []);
}

function useSystemTheme(): void {
  useEffect(() => {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", showTheme);
    window.addEventListener("storage", showTheme);
    return () => {
      system.removeEventListener("change", showTheme);
      window.removeEventListener("storage", showTheme);
    };
  }, []);
}
