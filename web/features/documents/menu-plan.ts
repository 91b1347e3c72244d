/** Which acts a document offers to whom, in the order of the menu. What a right does not allow is absent. */
import type { Status } from "@/lib/api";

export type RowAct = "open" | "download" | "explain" | "retry" | "cancel" | "bringBack" | "failedReplacement" | "replace" | "archive" | "clear";

export interface Offer {
  act: RowAct;
  /** There, and not now: the reason stands above it. */
  isOff: boolean;
}

export interface Rights {
  mayManage: boolean;
  mayEdit: boolean;
  /** The file before the failed one can be brought back. */
  canRevert: boolean;
  /** The last replacement could not be read and was reverted. */
  hasFailedReplacement: boolean;
}

export function planOf(status: Status, { mayManage, mayEdit, canRevert, hasFailedReplacement }: Rights): readonly (readonly Offer[])[] {
  const isProcessing = status === "processing";
  const isOpen = isProcessing || status === "pending";
  const looking: RowAct[] = ["open", "download", "explain"];
  const reading: RowAct[] = [
    ...(status === "failed" && mayEdit ? (["retry"] as const) : []),
    ...(isOpen && mayManage ? (["cancel"] as const) : []),
    ...(status === "failed" && mayManage && canRevert ? (["bringBack"] as const) : []),
    ...(status === "completed" && mayManage && hasFailedReplacement ? (["failedReplacement"] as const) : []),
  ];
  const changing: RowAct[] = [
    ...(status === "archived" || !mayManage ? [] : (["replace"] as const)),
    ...((status === "completed" || isProcessing) && mayManage ? (["archive"] as const) : []),
    ...(status === "failed" && mayManage ? (["clear"] as const) : []),
  ];
  const offers = (acts: readonly RowAct[], isOff = false) => acts.map((act) => ({ act, isOff }));
  return [offers(looking), offers(reading), offers(changing, isProcessing)].filter((group) => group.length > 0);
}

/** A failed document of a later revision may have a readable one before it; the server says whether it has. */
export const mayHaveOldOne = (document: { status: Status; revision: number; completed_at: string | null }): boolean =>
  document.status === "failed" && document.revision > 1 && document.completed_at !== null;
