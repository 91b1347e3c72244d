import { describe, expect, it } from "vitest";

import { extensionOf, formatDuration, formatExactTime, formatSize, formatSizeOf, formatTime, initialsOf, plural, splitName } from "./format";

const plain = (value: string) => value.replaceAll("\u00a0", " ");

describe("sizes", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [188_000, "188 kB"],
    [999_499, "999 kB"],
    [999_500, "1 MB"],
    [6_140_000, "6.1 MB"],
    [99_940_000, "99.9 MB"],
    [99_960_000, "100 MB"],
    [18_600_000_000, "18.6 GB"],
    [5e15, "5000 TB"],
  ])("%d bytes are %s", (bytes, shown) => {
    expect(plain(formatSize(bytes))).toBe(shown);
  });

  it("writes a part in the unit of the whole", () => {
    expect(plain(formatSizeOf(14_200_000, 22_800_000))).toBe("14.2 of 22.8 MB");
    expect(plain(formatSizeOf(0, 22_800_000))).toBe("0.0 of 22.8 MB");
    expect(plain(formatSizeOf(12, 900))).toBe("12 of 900 B");
  });
});

describe("times, in the zone of the reader", () => {
  const now = new Date("2026-11-16T09:30:00Z"); // 10:30 in Oslo
  it.each([
    ["2026-11-16T09:29:31Z", "just now"],
    ["2026-11-16T09:30:20Z", "just now"],
    ["2026-11-16T09:24:00Z", "6 min ago"],
    ["2026-11-16T08:30:00Z", "09:30"],
    ["2026-11-15T23:05:00Z", "00:05"],
    ["2026-11-15T22:59:00Z", "Yesterday"],
    ["2026-11-12T10:00:00Z", "12 Nov"],
    ["2025-12-31T23:30:00Z", "1 Jan"],
    ["2022-02-03T10:00:00Z", "3 Feb 2022"],
    ["2026-11-17T10:00:00Z", "Tomorrow"],
    ["2027-02-14T10:00:00Z", "14 Feb 2027"],
  ])("%s is %s", (at, shown) => {
    expect(plain(formatTime(new Date(at), now))).toBe(shown);
  });

  it("tells the exact one with its zone", () => {
    expect(formatExactTime(new Date("2026-11-15T09:02:41Z"))).toBe("15 Nov 2026, 10:02:41 CET");
    expect(formatExactTime(new Date("2026-07-15T09:02:41Z"))).toBe("15 Jul 2026, 11:02:41 CEST");
  });

  it.each([
    [8.4, "8 s"],
    [59.6, "1 min"],
    [200, "3 min 20 s"],
    [7500, "2 h 5 min"],
  ])("%d seconds are %s", (seconds, shown) => {
    expect(plain(formatDuration(seconds))).toBe(shown);
  });
});

describe("names", () => {
  it("has one document and many documents", () => {
    expect(plain(plural(1, "document", "documents"))).toBe("1 document");
    expect(plain(plural(1284, "document", "documents"))).toBe("1,284 documents");
  });

  it("keeps the end of a long name, and no letter is cut in two", () => {
    const [head, tail] = splitName("Rechnung_2026-11_Küstenlicht_👩‍👩‍👧12345.pdf");
    expect(head).toBe("Rechnung_2026-11_Küstenlicht_");
    expect(tail).toBe("👩‍👩‍👧12345.pdf");
    expect(splitName("short.pdf")).toEqual(["short.pdf", ""]);
  });

  it("knows the extension", () => {
    expect([extensionOf("Rechnung.pdf"), extensionOf("a.tar.gz"), extensionOf("README"), extensionOf("v. 2")]).toEqual(["PDF", "GZ", "", ""]);
  });

  it("makes initials of an address", () => {
    expect(["admin@example.org", "jo.arnesen@example.org", "ß@example.org", "@"].map(initialsOf)).toEqual(["AD", "JA", "SS", "?"]);
  });
});
