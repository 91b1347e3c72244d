import { describe, expect, it } from "vitest";

import { destination } from "./use-arrival";

const next = (value: string) => destination(`?next=${encodeURIComponent(value)}`);

describe("after the sign-in", () => {
  it("one goes where one wanted to go", () => {
    expect(next("/kb?id=1&q=a%20b")).toBe("/kb?id=1&q=a%20b");
    expect(destination("")).toBe("/");
  });

  it.each(["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "evil", "/sign-in?next=/sign-in", "http://["])(
    "%s leads home",
    (value) => {
      expect(next(value)).toBe("/");
    },
  );
});
