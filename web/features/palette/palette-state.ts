/** Whether the command palette is open. Small, because every page carries it; the palette itself is loaded when asked for. */
let isOpen = false;
const watchers = new Set<() => void>();

function become(open: boolean): void {
  isOpen = open;
  for (const watcher of [...watchers]) watcher();
}

export const openPalette = (): void => become(true);
export const closePalette = (): void => become(false);

export const paletteState = {
  watch: (watcher: () => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  },
  isOpen: () => isOpen,
};
