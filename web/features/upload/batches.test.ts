import { describe, expect, it } from "vitest";

import { MOST_FILES, nextBatch, shareOf } from "./batches";
import type { UploadItem } from "./item";

const KB = 1024;
const item = (id: number, size = KB, more: Partial<UploadItem> = {}): UploadItem => ({
  id,
  kbId: "kb",
  file: { name: `${id}`, size } as File,
  documentType: "other",
  replaces: null,
  documentId: null,
  state: { kind: "queued" },
  ...more,
});
const items = (count: number, size = KB) => Array.from({ length: count }, (_, id) => item(id, size));
const batchOf = (waiting: readonly UploadItem[], alone: readonly number[] = []) =>
  nextBatch(waiting, { requests: 3, mostFiles: MOST_FILES, isAlone: ({ id }) => alone.includes(id) }).map(({ id }) => id);

describe("a request", () => {
  it("has one file while there are few, and its share of many", () => {
    expect(batchOf([])).toEqual([]);
    expect(batchOf(items(12))).toEqual([0]);
    expect(batchOf(items(15))).toEqual([0, 1, 2, 3, 4]);
    expect(batchOf(items(1_000))).toHaveLength(MOST_FILES);
  });

  it("has one file where it is large, replaces a document or broke before", () => {
    expect(batchOf([item(100, 2 * KB * KB), ...items(60)])).toEqual([100]);
    expect(batchOf([item(100, KB, { replaces: "old" }), ...items(60)])).toEqual([100]);
    expect(batchOf(items(60), [0])).toEqual([0]);
    expect(batchOf(items(60), [1]).slice(0, 2)).toEqual([0, 2]);
  });

  it("has files of one knowledge base and one type", () => {
    const others = [item(101, KB, { kbId: "other" }), item(102, KB, { documentType: "invoice" })];
    const [first, ...rest] = items(60);
    expect(batchOf([first as UploadItem, ...others, ...rest]).slice(0, 3)).toEqual([0, 1, 2]);
  });

  it("stays small in bytes", () => {
    expect(batchOf(items(60, 900 * KB))).toHaveLength(9);
  });
});

it("shares progress out in the order of the files", () => {
  const files = [{ size: 10 }, { size: 30 }, { size: 0 }, { size: 10 }];
  expect(shareOf(files, 0)).toEqual([0, null, null, null]);
  expect(shareOf(files, 0.5)).toEqual([10, 15, null, null]);
  expect(shareOf(files, 1)).toEqual([10, 30, 0, 10]);
});
