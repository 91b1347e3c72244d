"use client";

/** "Coming in": docked in the sidebar, a float on the rail, a strip above the bottom bar on narrow screens. */
export function UploadTray() {
  return null;
}
