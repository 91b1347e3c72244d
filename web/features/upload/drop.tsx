"use client";

/** The whole window takes files; mounted once, on every page. */
export function UploadDrop() {
  return null;
}
