"use client";

/** Find or do anything. */
export function Palette() {
  return null;
}
