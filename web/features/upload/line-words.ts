/** What a line of the tray says: words at the left, a figure at the right, the two passes of its bar. */
import { sentencesOf } from "@/components/ui/error-sentences";
import type { ProgressTone } from "@/components/ui/progress";
import { stepOf } from "@/features/documents/steps";
import { formatCount, formatSizeOf } from "@/lib/format";
import type { Progress } from "@/lib/live";
import { documents, upload as t } from "@/text";

import type { UploadItem } from "./item";

export interface LineWords {
  words: string;
  figure: string;
  sent: number;
  read: number;
  tone: ProgressTone;
}

export function wordsOf({ state, replaces, file }: UploadItem, progress: Progress | undefined): LineWords {
  switch (state.kind) {
    case "queued":
      return line(t.queued, "", 0);
    case "sending": {
      const sent = state.total > 0 ? state.sent / state.total : 0;
      // The form around the file is part of what is sent; people know the file's own size.
      return sent >= 1 ? line(t.storing, "", 1) : line(t.uploading, formatSizeOf(sent * file.size, file.size), sent);
    }
    case "paused":
      return { ...line(t.pausedBecause[state.why], t.pausedFigure, 1), tone: "paused" };
    case "asking":
      return { ...line(t.asking, "", 1), tone: "paused" };
    case "reading":
      return readingOf(progress);
    case "done":
      return { ...line(t.done, "", 1), read: 1, tone: "done" };
    case "failed": {
      const reason = state.during === "sending" ? reasonOf(state.error) : state.reason;
      const ofReplace = state.during === "replacing" ? t.restored : state.during === "sending" ? t.replaceFailed : t.failed;
      return { ...line((replaces ? ofReplace : t.failed)(reason), "", 1), tone: "failed" };
    }
  }
}

function readingOf(progress: Progress | undefined): LineWords {
  const { stage, page, pages, fraction } = stepOf(progress, "pending");
  const ofPages = page !== null && pages !== null ? documents.steps.pageOf(formatCount(page), formatCount(pages)) : "";
  const allPages = pages !== null ? documents.steps.pages(formatCount(pages)) : "";
  return { ...line(t[stage], ofPages || (stage === "reading" ? "" : allPages), 1), read: fraction };
}

function reasonOf(error: unknown): string {
  const { title, text } = sentencesOf(error);
  return text ? `${title}. ${text}` : title;
}

const line = (words: string, figure: string, sent: number): LineWords => ({ words, figure, sent, read: 0, tone: "busy" });
