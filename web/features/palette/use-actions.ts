"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";

import { allKeys, type KeyBinding } from "@/components/shell/keys";
import { useSignOut } from "@/components/shell/person-menu";
import { placesOf } from "@/components/shell/places";
import { useIsDark } from "@/components/shell/theme-switch";
import type { IconName } from "@/components/ui/icons";
import { usePerson } from "@/features/session/signed-in";
import type { KnowledgeBase } from "@/lib/api";
import { useTheme } from "@/lib/preferences";
import { palette as t } from "@/text";

import type { Option } from "./options";

export type Action = Pick<Option, "id" | "label" | "icon" | "run"> & { keys?: string };

// Keys that move something are no acts, and the palette does not open itself.
const NO_ACTS = /^(Mod\+k|j|k|Enter|Escape|Space|x|\.|.*Arrow.*)$/;

/** What this person may do here: the places they may go to, and every key that the page has right now. */
export function useActions(knowledgeBases: readonly KnowledgeBase[]): readonly Action[] {
  const me = usePerson();
  const router = useRouter();
  const leave = useSignOut();
  const isDark = useIsDark();
  const [, setTheme] = useTheme();
  // What counts when the palette opens: itself it has no keys.
  const [bindings] = useState(() =>
    [...new Map(allKeys().map((binding) => [binding.keys, binding])).values()].filter((binding) => binding.does && !NO_ACTS.test(binding.keys)),
  );
  const { everyday, administration } = placesOf(me, knowledgeBases);
  const going = [...everyday, ...administration].filter((place) => !bindings.some((binding) => binding.does === t.goTo(place.label)));
  return [
    ...bindings.map(actionOf),
    ...going.map((place) => ({ id: place.href, label: t.goTo(place.label), icon: place.icon, run: () => router.push(place.href) })),
    { id: "new-kb", label: t.newKnowledgeBase, icon: "plus", run: () => router.push("/?new=1") },
    { id: "account", label: t.account, icon: "person", run: () => router.push("/account") },
    { id: "theme", label: isDark ? t.toLight : t.toDark, icon: isDark ? "sun" : "moon", run: () => setTheme(isDark ? "light" : "dark") },
    { id: "sign-out", label: t.signOut, icon: "leave", run: () => void leave() },
  ];
}

const ICONS: Readonly<Record<string, IconName>> = { "?": "ask", u: "upload", "/": "search", z: "undo", a: "box" };

function actionOf(binding: KeyBinding): Action {
  const icon = ICONS[binding.keys] ?? (binding.keys.startsWith("g ") ? "right" : "open");
  return {
    id: `key-${binding.keys}`,
    label: binding.does ?? "",
    icon,
    keys: binding.keys,
    run: () => binding.run(new KeyboardEvent("keydown", { key: binding.keys })),
  };
}
