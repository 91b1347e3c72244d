"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";

import { openPalette } from "@/features/palette/palette-state";
import type { KnowledgeBase, Me } from "@/lib/api";
import { shell } from "@/text";

import { handleKey, useKeys, type KeyBinding } from "./keys";
import { KeysDialog } from "./keys-dialog";
import { placesOf } from "./places";

const WORDS: Readonly<Record<string, readonly [keys: string, does: string]>> = {
  "/search": ["g s", shell.keys.toSearch],
  "/archive": ["g a", shell.keys.toArchive],
  "/audit": ["g l", shell.keys.toAudit],
  "/operations": ["g o", shell.keys.toOperations],
};

/** The keys that do the same on every page. */
export function GlobalKeys({ me, knowledgeBases }: { me: Me; knowledgeBases: readonly KnowledgeBase[] }) {
  const router = useRouter();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { everyday, administration } = placesOf(me, knowledgeBases);
  const going = [...everyday, ...administration].flatMap((place): KeyBinding[] => {
    const word = WORDS[place.href];
    return word ? [{ keys: word[0], does: word[1], run: () => router.push(place.href) }] : [];
  });
  useKeys([
    { keys: "Mod+k", does: shell.keys.find, run: openPalette, inFields: true },
    { keys: "?", does: shell.keys.help, run: () => setHelpOpen(true) },
    { keys: "g d", does: shell.keys.toDocuments, run: () => router.push("/") },
    ...going,
  ]);
  useEffect(() => {
    document.addEventListener("keydown", handleKey);
    return () => document.removeEventListener("keydown", handleKey);
  }, []);
  return <KeysDialog isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />;
}
