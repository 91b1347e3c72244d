"use client";

import { useEffect, useState } from "react";

import { formatCount } from "@/lib/format";
import { upload as t } from "@/text";

const EVERY_MS = 5_000;

/** For ears: how many are done, told at most every five seconds, and nothing while there is nothing to tell. */
export function useAnnouncement(done: number, failed: number, all: number): string {
  const [said, setSaid] = useState("");
  const words = all === 0 ? "" : t.announce(formatCount(done), formatCount(all)) + (failed > 0 ? t.announceFailed(formatCount(failed)) : "");
  useEffect(() => {
    if (words === said) return;
    const timer = setTimeout(() => setSaid(words), words === "" ? 0 : EVERY_MS);
    return () => clearTimeout(timer);
  }, [words, said]);
  return said;
}
