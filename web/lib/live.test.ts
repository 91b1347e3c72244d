import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Live, type LiveEvent, type Progress, type Source } from "./live";

/** A stream that the test speaks through. */
class Wire implements Source {
  onerror: ((event: Event) => void) | null = null;
  isClosed = false;
  readonly #handlers = new Map<string, (event: MessageEvent<string>) => void>();

  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.#handlers.set(type, listener);
  }

  close(): void {
    this.isClosed = true;
  }

  say(type: string, data: unknown): void {
    this.#handlers.get(type)?.(new MessageEvent(type, { data: JSON.stringify(data) }));
  }

  break(): void {
    this.onerror?.(new Event("error"));
  }
}

const document = (id: string, change: Partial<Progress> = {}): Progress => ({
  document_id: id,
  kb_id: "kb",
  name: `${id}.pdf`,
  status: "processing",
  processing_status: "in_progress",
  step: "ExtractText",
  page: 3,
  pages: 12,
  total_pages: null,
  last_error: null,
  purpose: "first",
  ...change,
});

let wires: Wire[] = [];
let heard: LiveEvent[] = [];

function started(): Live {
  const live = new Live({
    open: () => {
      wires.push(new Wire());
      return wires.at(-1)!;
    },
    patience: 8_000,
    pollEvery: 4_000,
    retryAfter: [2_000, 5_000],
  });
  live.listen((event) => heard.push(event));
  live.start();
  return live;
}

const looks = () => heard.filter((event) => event.type === "look").length;

beforeEach(() => {
  vi.useFakeTimers();
  wires = [];
  heard = [];
});
afterEach(() => vi.useRealTimers());

describe("the stream of a tab", () => {
  it("is one, however often it is started", () => {
    const live = started();
    live.start();
    live.start();
    expect(wires).toHaveLength(1);
  });

  it("knows what is unfinished from the snapshot, and forgets what has finished or gone", () => {
    const live = started();
    wires[0]!.say("snapshot", { documents: [document("a"), document("b")], truncated: false });
    expect([live.state, live.progressOf("a")?.page]).toEqual(["live", 3]);
    wires[0]!.say("document", document("a", { page: 4 }));
    expect(live.progressOf("a")?.page).toBe(4);
    wires[0]!.say("document", document("a", { status: "completed", purpose: null }));
    wires[0]!.say("gone", { document_id: "b" });
    expect([live.progressOf("a"), live.progressOf("b")]).toEqual([undefined, undefined]);
    expect(heard.map((event) => event.type)).toEqual(["snapshot", "document", "document", "gone"]);
  });

  it("keeps a completed document that is being read again", () => {
    const live = started();
    wires[0]!.say("document", document("a", { status: "completed", purpose: "reread" }));
    expect(live.progressOf("a")?.purpose).toBe("reread");
  });

  it("drops what a new snapshot does not know, unless that is not whole", () => {
    const live = started();
    wires[0]!.say("snapshot", { documents: [document("a")], truncated: false });
    wires[0]!.say("snapshot", { documents: [document("b")], truncated: true });
    expect([live.progressOf("a")?.name, live.progressOf("b")?.name]).toEqual(["a.pdf", "b.pdf"]);
    wires[0]!.say("snapshot", { documents: [], truncated: false });
    expect(live.progressOf("a")).toBeUndefined();
  });

  it("is replaced by asking when it breaks, and asking ends when it is back", () => {
    const live = started();
    wires[0]!.say("snapshot", { documents: [], truncated: false });
    wires[0]!.break();
    expect([live.state, wires[0]!.isClosed, looks()]).toEqual(["polling", true, 1]);
    vi.advanceTimersByTime(2_000);
    expect(wires).toHaveLength(2);
    vi.advanceTimersByTime(2_000);
    expect(looks()).toBe(2);
    wires[1]!.say("snapshot", { documents: [], truncated: false });
    vi.advanceTimersByTime(60_000);
    expect([live.state, looks(), wires.length]).toEqual(["live", 2, 2]);
  });

  it("counts as blocked when nothing comes through it", () => {
    const live = started();
    vi.advanceTimersByTime(8_000);
    expect([live.state, wires[0]!.isClosed]).toEqual(["polling", true]);
  });

  it("is tried again less and less often, and asking goes on", () => {
    started();
    wires[0]!.break();
    vi.advanceTimersByTime(2_000);
    wires[1]!.break();
    vi.advanceTimersByTime(4_999);
    expect(wires).toHaveLength(2);
    vi.advanceTimersByTime(1);
    wires[2]!.break();
    vi.advanceTimersByTime(5_000);
    expect(wires).toHaveLength(4);
    expect(looks()).toBeGreaterThan(3);
  });

  it("is silent after it was stopped, and starts anew", () => {
    const live = started();
    wires[0]!.break();
    live.stop();
    const before = heard.length;
    vi.advanceTimersByTime(60_000);
    expect([live.state, heard.length, wires.length]).toEqual(["closed", before, 1]);
    live.start();
    expect([live.state, wires.length]).toEqual(["connecting", 2]);
  });

  it("no longer tells who has stopped listening", () => {
    const live = started();
    const listener = vi.fn();
    live.listen(listener)();
    wires[0]!.say("document", document("a"));
    expect(listener).not.toHaveBeenCalled();
  });
});
