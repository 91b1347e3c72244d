/** Radix's parts, handed to the items by the open menu: the items belong to every page, the parts come late. */
import type * as Radix from "@radix-ui/react-menu";
import { createContext, use } from "react";

export interface OpenMenu {
  parts: typeof Radix;
  /** Puts the focus back on the menu's button. */
  goHome: () => void;
}

export const OpenMenuContext = createContext<OpenMenu | null>(null);

export function useOpenMenu(): OpenMenu {
  const menu = use(OpenMenuContext);
  if (!menu) throw new Error("a menu item outside of a menu");
  return menu;
}
