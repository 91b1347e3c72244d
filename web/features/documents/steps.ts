/** What is being done with a document, from what the event stream says of it. The same for the row and for the tray. */
import type { Status } from "@/lib/api";
import type { Progress } from "@/lib/live";

export type Stage = "waiting" | "reading" | "saving" | "indexing";

export interface Step {
  stage: Stage;
  /** Being read is this page of so many. */
  page: number | null;
  pages: number | null;
  /** How much of the whole is behind it, 0 to 1; it never runs back. */
  fraction: number;
}

/** Where each node of the graph begins, and its share. Reading takes by far the longest. */
const NODES: Readonly<Record<string, { stage: Stage; from: number; share: number }>> = {
  FetchDocumentRecord: { stage: "reading", from: 0.02, share: 0 },
  AlreadyProcessedCheck: { stage: "reading", from: 0.02, share: 0 },
  MarkProcessingStarted: { stage: "reading", from: 0.03, share: 0 },
  ExtractText: { stage: "reading", from: 0.05, share: 0.7 },
  SavePages: { stage: "saving", from: 0.76, share: 0 },
  SaveParagraphs: { stage: "saving", from: 0.78, share: 0 },
  AggregateDiagrams: { stage: "saving", from: 0.8, share: 0 },
  SaveDiagrams: { stage: "saving", from: 0.82, share: 0 },
  IndexText: { stage: "indexing", from: 0.84, share: 0.12 },
  // Runs that an earlier version began.
  Index: { stage: "indexing", from: 0.84, share: 0.12 },
  UpdateMetrics: { stage: "indexing", from: 0.97, share: 0 },
  MarkBasicComplete: { stage: "indexing", from: 0.98, share: 0 },
  BuildSummary: { stage: "indexing", from: 0.99, share: 0 },
};

type Known = Pick<Progress, "status" | "step" | "page" | "pages" | "total_pages">;

export function stepOf(progress: Known | undefined, status: Status): Step {
  const current = progress?.status ?? status;
  const node = progress?.step ? NODES[progress.step] : undefined;
  if (current === "pending" || !progress) return { stage: current === "pending" ? "waiting" : "reading", page: null, pages: null, fraction: 0 };
  const { stage, from, share } = node ?? { stage: "reading" as const, from: 0.02, share: 0 };
  const { page } = progress;
  const pages = progress.pages ?? progress.total_pages;
  const within = page !== null && pages ? Math.min(1, page / pages) : 0;
  return { stage, page, pages, fraction: from + share * within };
}
