import { describe, expect, it } from "vitest";

import { objectOf, payloadFacts, verbOf } from "./event-words";

const nameOf = (id: string) => (id === "u-1" ? "editor@example.org" : id);
const what = (payload: Record<string, unknown>) => objectOf({ payload }, nameOf);

describe("an event in words", () => {
  it("names what it was done to", () => {
    expect(what({ doc_id: "d", kb_id: "k", doc_name: "Lease.pdf" })).toBe("Lease.pdf");
    expect(what({ old_name: "Lease.pdf", new_name: "Lease 2.pdf" })).toBe("Lease.pdf → Lease 2.pdf");
    expect(what({ old_name: "Lease.pdf", new_name: "Lease.pdf" })).toBe("Lease.pdf");
    expect(what({ name: "Contracts", user_id: "u-1", role: "editor" })).toBe("editor@example.org · Contracts");
    expect(what({ before: "Firma", after: "Firma AS" })).toBe("Firma → Firma AS");
    expect(what({ job_id: `org/o-1/invoice/${"ab".repeat(32)}.pdf` })).toBe("invoice abababab…abab");
    expect(what({})).toBe("");
  });

  it("reads an action that it does not know", () => {
    expect(verbOf("document_purged")).toBe("Purged");
    expect(verbOf("legal_hold_set")).toBe("Legal hold set");
  });

  it("lists its details, without what stands in the columns and what is nothing", () => {
    const facts = payloadFacts(
      { kb_id: "k", doc_id: "d", doc_name: "Lease.pdf", file_size: 2_400_000, sha256: "ab", before: null, after: { is_admin: true } },
      nameOf,
    );
    expect(facts).toEqual([
      { label: "Name", value: "Lease.pdf", isProof: false },
      { label: "Size", value: "2.4\u00a0MB", isProof: false },
      { label: "SHA-256", value: "ab", isProof: true },
      { label: "After", value: "Admin: Yes", isProof: false },
    ]);
  });

  it("names people where it may", () => {
    expect(payloadFacts({ user_id: "u-1" }, nameOf)).toEqual([{ label: "User", value: "editor@example.org", isProof: false }]);
  });
});
