import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { live } from "@/lib/live";

import { keyOfPart, useLookAgain } from "./use-document";

const PLACE = { kbId: "kb", documentId: "document" };

class StubSource extends EventTarget {
  static latest: StubSource;
  onerror = null;
  constructor() {
    super();
    StubSource.latest = this;
  }
  close() {}
}

function Status({ answers }: { answers: string[] }) {
  useLookAgain(PLACE);
  const { data } = useQuery({ queryKey: keyOfPart(PLACE, "itself"), queryFn: () => answers.shift() ?? "none left" });
  return <p>{data}</p>;
}

afterEach(() => {
  live.stop();
  vi.unstubAllGlobals();
  cleanup();
});

describe("a document", () => {
  it("is fetched again when the stream begins, because it may have finished before", async () => {
    vi.stubGlobal("EventSource", StubSource);
    render(
      <QueryClientProvider client={new QueryClient()}>
        <Status answers={["processing", "completed"]} />
      </QueryClientProvider>,
    );
    await screen.findByText("processing");
    live.start();
    StubSource.latest.dispatchEvent(new MessageEvent("snapshot", { data: '{"documents": [], "truncated": false}' }));
    await screen.findByText("completed");
    expect(live.state).toBe("live");
  });
});
