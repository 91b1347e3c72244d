import type { Document } from "@/lib/api";

/** PDFs and pictures have pages to look at; of all others there is the text. */
export const hasPictures = ({ media_type: kind }: Pick<Document, "media_type">): boolean => kind === "application/pdf" || kind.startsWith("image/");

/** Whether there is something to show: what was read of it. */
export const isReadable = ({ status, total_pages: pages }: Document): boolean => (status === "completed" || status === "archived") && (pages ?? 0) > 0;

/** A link that a server gave, if it leads to a page and nowhere else. */
export function webLink(url: string | null): string | null {
  if (!url) return null;
  try {
    return ["http:", "https:"].includes(new URL(url).protocol) ? url : null;
  } catch {
    return null;
  }
}
