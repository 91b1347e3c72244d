"use client";

import { useQueryClient } from "@tanstack/react-query";

import { openPalette } from "@/features/palette/palette-state";
import { Avatar } from "@/components/ui/avatar";
import { Menu, MenuChoices, MenuItem, MenuLine, MenuLink, MenuNote } from "@/components/ui/menu";
import { signOut, type Me } from "@/lib/api";
import { live } from "@/lib/live";
import { useTheme, type Theme } from "@/lib/preferences";
import { shell } from "@/text";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** Who is signed in, with the way to their account and out. */
export function PersonMenu({ me, hasWords }: { me: Me; hasWords: boolean }) {
  const [theme, setTheme] = useTheme();
  const leave = useSignOut();
  return (
    <Menu
      align="start"
      side="top"
      trigger={
        <button type="button" className="flex min-h-9 min-w-0 flex-1 items-center gap-2.5 rounded-control p-1 text-left hover:bg-desk-2 coarse:min-h-11">
          <Avatar email={me.email} />
          {hasWords ? (
            <span className="min-w-0">
              <bdi className="block truncate text-13 leading-4 font-semibold">{me.email}</bdi>
              <bdi className="block truncate text-12 text-ink-3">{me.organization_name}</bdi>
              <span className="sr-only">{shell.personMenuHint}</span>
            </span>
          ) : (
            <span className="sr-only">{shell.personMenu(me.email)}</span>
          )}
        </button>
      }
    >
      <MenuNote>
        <span className="min-w-0 [overflow-wrap:anywhere]">
          <bdi className="block font-semibold text-ink">{me.email}</bdi>
          <bdi className="block">{me.organization_name}</bdi>
        </span>
      </MenuNote>
      <MenuLine />
      <MenuItem icon="search" shortcut="Ctrl K" onSelect={openPalette}>
        {shell.findOrDo}
      </MenuItem>
      <MenuLink href="/account" icon="person">
        {shell.account}
      </MenuLink>
      <MenuLink href="/docs" icon="link" isPlain>
        {shell.apiReference}
      </MenuLink>
      <MenuLine />
      <MenuNote>{shell.theme}</MenuNote>
      <MenuChoices value={theme} choices={THEMES.map((value) => ({ value, label: shell.themes[value] }))} onChoose={setTheme} />
      <MenuLine />
      <MenuItem icon="leave" onSelect={() => void leave()}>
        {shell.signOut}
      </MenuItem>
    </Menu>
  );
}

/** Ends the session and forgets everything that was shown: the next person at this screen starts from nothing. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await signOut().catch(() => null); // an ended session is signed out as well
    live.stop();
    client.clear();
    window.location.assign("/sign-in");
  };
}
