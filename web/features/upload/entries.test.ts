import { describe, expect, it } from "vitest";

import { filesOf, isLitter, withoutLitter } from "./entries";

const file = (name: string) => new File(["x"], name);
const entry = (name: string) => ({ isFile: true, isDirectory: false, name, file: (take: (file: File) => void) => take(file(name)) });
const unreadable = (name: string) => ({ ...entry(name), file: (_: unknown, fail: (error: Error) => void) => fail(new Error("gone")) });
/** As browsers do: some at a time, and nothing at the end. */
const folder = (name: string, ...parts: object[][]) => ({
  isFile: false,
  isDirectory: true,
  name,
  createReader: () => {
    const left = [...parts, []];
    return { readEntries: (take: (some: object[]) => void) => take(left.shift() ?? []) };
  },
});
const transfer = (...entries: object[]) =>
  ({ items: entries.map((each) => ({ kind: "file", webkitGetAsEntry: () => each, getAsFile: () => null })) }) as unknown as DataTransfer;

const names = async (...entries: object[]) => (await filesOf(transfer(...entries))).files.map(({ name }) => name);

describe("what was dropped", () => {
  it("holds the files of folders in folders, all that the reader gives in turn", async () => {
    const dropped = folder("Leases", [entry("b.pdf"), folder("2026", [entry("c.pdf")])], [entry("a.pdf")]);
    expect(await names(dropped, entry("alone.pdf"))).toEqual(["c.pdf", "a.pdf", "b.pdf", "alone.pdf"]);
  });

  it("leaves out what systems put into folders", async () => {
    const dropped = folder("Leases", [entry(".DS_Store"), entry("lease.pdf"), folder("__MACOSX", [entry("x.pdf")]), folder(".git", [entry("config")])]);
    expect(await names(dropped, entry("Thumbs.db"))).toEqual(["lease.pdf"]);
  });

  it("counts what could not be opened, and goes on", async () => {
    const dropped = await filesOf(transfer(folder("Leases", [unreadable("a.pdf"), entry("b.pdf")])));
    expect(dropped.unreadable).toBe(1);
    expect(dropped.files.map(({ name }) => name)).toEqual(["b.pdf"]);
  });

  it.each([".DS_Store", "Thumbs.db", "desktop.ini", "._scan.pdf", "~$letter.docx", ".~lock.letter.odt#"])("calls %s litter", (name) => {
    expect(isLitter(name)).toBe(true);
  });

  it.each(["lease.pdf", ".profile.txt", "thumbs.db.pdf", "Desktop.txt"])("does not call %s litter", (name) => {
    expect(isLitter(name)).toBe(false);
  });

  it("of a chosen folder is without the litter in its folders", () => {
    const inside = (path: string) => Object.defineProperty(file(path.split("/").at(-1) ?? ""), "webkitRelativePath", { value: path });
    const chosen = ["Leases/a.pdf", "Leases/.git/config", "Leases/__MACOSX/a.pdf", "Leases/.DS_Store"].map(inside);
    expect(withoutLitter(chosen).map(({ name }) => name)).toEqual(["a.pdf"]);
  });
});
