"use client";

import { useEffect, useState, type RefObject } from "react";

/** The numbers of the pages that are in the pane or close to it: of two thousand, a handful. */
export function useNear(pane: RefObject<HTMLElement | null>, pages: number): ReadonlySet<number> {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => {
    if (!pane.current) return;
    const observer = new IntersectionObserver(
      (entries) =>
        setNear((known) => {
          const next = new Set(known);
          for (const { target, isIntersecting } of entries) {
            const number = Number((target as HTMLElement).dataset.page);
            if (isIntersecting) next.add(number);
            else next.delete(number);
          }
          return next;
        }),
      { root: pane.current, rootMargin: "60% 0px" },
    );
    for (const slot of pane.current.querySelectorAll("[data-page]")) observer.observe(slot);
    return () => observer.disconnect();
  }, [pane, pages]);
  return near;
}
