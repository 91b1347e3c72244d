"use client";

import { QueryErrorResetBoundary } from "@tanstack/react-query";
import { Suspense, type ReactNode } from "react";

import { ErrorBoundary } from "@/components/ui/error-boundary";
import { PageSkeleton } from "@/components/ui/skeleton";

/** What every `page.tsx` puts around its feature: bones until the address is known, and a way on when it breaks. */
export function Route({ children, waiting = <PageSkeleton /> }: { children: ReactNode; waiting?: ReactNode }) {
  return (
    <QueryErrorResetBoundary>
      {({ reset }) => (
        <ErrorBoundary onRetry={reset}>
          <Suspense fallback={waiting}>{children}</Suspense>
        </ErrorBoundary>
      )}
    </QueryErrorResetBoundary>
  );
}
