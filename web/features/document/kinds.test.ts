import { expect, it } from "vitest";

import { hasPictures, webLink } from "./kinds";

it("only a page of the web is a link", () => {
  expect(webLink("https://paperless.example.org/documents/5120/")).toBe("https://paperless.example.org/documents/5120/");
  expect(webLink("javascript:alert(1)")).toBeNull();
  expect(webLink("data:text/html,x")).toBeNull();
  expect(webLink("/documents/5")).toBeNull();
  expect(webLink(null)).toBeNull();
});

it("PDFs and pictures have pages to look at", () => {
  expect(["application/pdf", "image/png", "text/plain", "application/vnd.ms-word"].map((media_type) => hasPictures({ media_type }))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
