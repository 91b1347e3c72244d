/** What can be done about a taken name. The state of the document that has it decides, and who asks. */
import type { Status } from "@/lib/api";
import { formatSize } from "@/lib/format";
import type { UploadItem } from "@/features/upload/item";
import { duplicate as t } from "@/text";

export type Form = "active" | "archived" | "processing" | "failed" | "gone";
export type Act = "replace" | "restore" | "revert" | "upload";

const FORMS: Readonly<Record<Status, Form>> = {
  pending: "active",
  completed: "active",
  processing: "processing",
  archived: "archived",
  failed: "failed",
};

export const formOf = (status: Status): Form => FORMS[status];

/** Besides Cancel, which is always there. The last one is the primary. */
export function actsOf(form: Form, { mayManage, canRevert }: { mayManage: boolean; canRevert: boolean }): readonly Act[] {
  if (form === "gone") return ["upload"];
  if (!mayManage || form === "processing") return [];
  if (form === "archived") return ["replace", "restore"];
  if (form === "failed" && canRevert) return ["replace", "revert"];
  return ["replace"];
}

export function wordOf(act: Act, form: Form): string {
  if (act === "restore") return t.restoreExisting;
  if (act === "revert") return t.bringBack;
  if (act === "upload") return t.uploadNow;
  return form === "archived" ? t.replaceArchived : form === "failed" ? t.replaceFailed : t.replaceExisting;
}

export type Asking = UploadItem & { state: { kind: "asking" } };

export const isAsking = (item: UploadItem): item is Asking => item.state.kind === "asking";

/** Those who wait for the same decision: the same may be done for all of them at once. */
export function equalsOf(current: Asking, form: Form, waiting: readonly Asking[]): readonly Asking[] {
  return waiting.filter((other) => other.id !== current.id && other.kbId === current.kbId && formOf(other.state.existingStatus) === form);
}

/** Everybody who was asked about since the dialog opened; it begins anew when nobody is left. */
export function roundOf(before: readonly number[], waiting: readonly { id: number }[]): readonly number[] {
  if (waiting.length === 0) return before.length === 0 ? before : [];
  const added = waiting.filter(({ id }) => !before.includes(id)).map(({ id }) => id);
  return added.length === 0 ? before : [...before, ...added];
}

interface Existing {
  file_size: number;
  sha256: string;
  created_at: string;
}

/** In one sentence how the two differ. `hash` is null while it is not known. */
export function differenceOf(existing: Existing, file: Pick<File, "size" | "lastModified">, hash: string | null): string {
  if (file.size === existing.file_size) return hash !== null && hash === existing.sha256 ? t.sameFile : t.sameSize;
  const age = file.lastModified > Date.parse(existing.created_at) ? t.newer : t.older;
  const more = file.size - existing.file_size;
  const size = more > 0 ? t.larger(formatSize(more)) : t.smaller(formatSize(-more));
  return `${age}${t.and}${size}.`;
}
