import { describe, expect, it } from "vitest";

import { stepWords } from "./step-words";
import { stepOf } from "./steps";

const at = (step: string | null, page: number | null = null, pages: number | null = null, status: "pending" | "processing" = "processing") =>
  stepOf({ status, step, page, pages, total_pages: pages }, "processing");
const words = (...given: Parameters<typeof at>) => {
  const { word, figure } = stepWords(at(...given));
  return [word, figure].filter(Boolean).join(" ");
};

describe("the step of a document", () => {
  it("is told with its pages", () => {
    expect(words(null, null, null, "pending")).toBe("Pending");
    expect(words("ExtractText", 12, 48)).toBe("Processing page 12 of 48");
    expect(words("ExtractText")).toBe("Processing");
    expect(words("IndexText", null, 31)).toBe("Indexing 31 pages");
    expect(words("IndexText", 7, 31)).toBe("Indexing page 7 of 31");
    expect(words("SomethingNew")).toBe("Processing");
  });

  it("never runs back", () => {
    const way = [
      at(null),
      at("MarkProcessingStarted"),
      at("ExtractText", 1, 9),
      at("ExtractText", 9, 9),
      at("SavePages"),
      at("SaveDiagrams"),
      at("IndexText", 1, 9),
      at("IndexText", 9, 9),
      at("BuildSummary"),
    ];
    const fractions = way.map(({ fraction }) => fraction);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.at(-1)).toBeLessThan(1);
  });

  it("is that of the list until the stream says more", () => {
    expect(stepOf(undefined, "pending").stage).toBe("waiting");
    expect(stepOf(undefined, "processing").stage).toBe("reading");
  });
});
