/** Rules of docs/guide/web.md#rules that a tool can check. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

const LONGEST = 250;
const GENERATED = new Set(["lib/api/schema.ts"]);
const FOLDERS = ["app", "components", "features", "lib", "text"];

const files = FOLDERS.flatMap((folder) =>
  readdirSync(path.join(import.meta.dirname, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => path.relative(import.meta.dirname, path.join(entry.parentPath, entry.name))),
).filter((file) => !GENERATED.has(file));
const sources = files.filter((file) => !/\.test\.tsx?$/.test(file));
const read = (file: string) => readFileSync(path.join(import.meta.dirname, file), "utf8");
const code = (file: string) => read(file).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
const having = (pattern: RegExp, among = sources) => among.filter((file) => pattern.test(code(file))).sort();

describe("every file", () => {
  it("is found", () => expect(files.length).toBeGreaterThan(80));

  it(`has ${LONGEST} lines at most`, () => {
    expect(files.filter((file) => read(file).split("\n").length > LONGEST + 1)).toEqual([]);
  });

  it("knows its types", () => {
    // Sentences for people may use the word.
    expect(
      having(
        /[:<,|&(]\s*any\b|\bas any\b/,
        files.filter((file) => !file.startsWith("text/")),
      ),
    ).toEqual([]);
    expect(files.filter((file) => /@ts-(ignore|expect-error|nocheck)/.test(read(file)))).toEqual([]);
  });
});

describe("the server", () => {
  it("is spoken to in lib/api, and by the one event stream", () => {
    expect(having(/\bfetch\(|XMLHttpRequest|new EventSource|sendBeacon/)).toEqual(["lib/api/client.ts", "lib/api/uploads.ts", "lib/live.ts"]);
  });

  it("names its paths in lib/api alone", () => {
    expect(having(/["'`]\/api\/v1/).filter((file) => !file.startsWith("lib/"))).toEqual([]);
  });
});

describe("names and texts of documents", () => {
  it("are never HTML", () => {
    expect(having(/dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write/)).toEqual(["app/layout.tsx"]);
  });
});

describe("routes", () => {
  it("hold one feature and no logic", () => {
    const pages = sources.filter((file) => file.endsWith("page.tsx") && file.startsWith("app/"));
    expect(pages.length).toBeGreaterThan(8);
    expect(pages.filter((file) => read(file).split("\n").length > 25)).toEqual([]);
    expect(pages.filter((file) => !/<Route>/.test(read(file)))).toEqual([]);
  });
});

describe("components/ui", () => {
  it("knows no domain", () => {
    expect(having(/from "@\/features|from "@\/components\/shell/).filter((file) => file.startsWith("components/ui/"))).toEqual([]);
  });
});
