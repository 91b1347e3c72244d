import { expect, it } from "vitest";

import { isWithoutVectors } from "./indexing";

it("a completed document is without vectors until all of its passages have one", () => {
  expect(isWithoutVectors({ status: "completed", passages: 12, passages_embedded: 0 })).toBe(true);
  expect(isWithoutVectors({ status: "completed", passages: 12, passages_embedded: 11 })).toBe(true);
  expect(isWithoutVectors({ status: "completed", passages: 12, passages_embedded: 12 })).toBe(false);
});

it("a document that is being processed, has no text or has no count is not reported as without vectors", () => {
  expect(isWithoutVectors({ status: "processing", passages: 12, passages_embedded: 0 })).toBe(false);
  expect(isWithoutVectors({ status: "archived", passages: 12, passages_embedded: 0 })).toBe(false);
  expect(isWithoutVectors({ status: "completed", passages: 0, passages_embedded: 0 })).toBe(false);
  expect(isWithoutVectors({ status: "completed", passages: null, passages_embedded: null })).toBe(false);
  expect(isWithoutVectors({ status: "completed" })).toBe(false);
});
