/** Brings something into a pane, so that it stands at this share of its height. Nothing outside of the pane moves. */
export function bring(pane: HTMLElement, target: Element, share = 0.35): void {
  const outer = pane.getBoundingClientRect();
  const inner = target.getBoundingClientRect();
  const left = inner.left - outer.left;
  const isBeside = left < 0 || inner.right > outer.left + pane.clientWidth;
  pane.scrollTo({
    top: pane.scrollTop + inner.top - outer.top - pane.clientHeight * share,
    ...(isBeside ? { left: pane.scrollLeft + left - pane.clientWidth * 0.2 } : {}),
  });
}

/** The nearest thing around it that scrolls by itself. */
export const paneOf = (element: Element): HTMLElement | null => element.closest<HTMLElement>("[data-pane]");
