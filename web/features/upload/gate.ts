/** Closed while the server is away or asks for patience. It knocks by itself, ever more seldom, and at once when told to. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 10_000] as const;

export class Gate {
  readonly #isThere: () => Promise<boolean>;
  readonly #onOpen: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #knocks = 0;
  #isClosed = false;
  /** The server said for how long: knocking earlier is of no use. */
  #isFirm = false;

  constructor(isThere: () => Promise<boolean>, onOpen: () => void) {
    this.#isThere = isThere;
    this.#onOpen = onOpen;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** `seconds` where the server named them. */
  close(seconds?: number): void {
    if (this.#isClosed && seconds === undefined) return;
    this.#isClosed = true;
    this.#isFirm = seconds !== undefined;
    this.#wait(seconds === undefined ? WAITS_MS[0] : seconds * 1_000);
  }

  /** Something says that the server may be back: the browser, the event stream. */
  wake(): void {
    if (this.#isClosed && !this.#isFirm) void this.#knock();
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#knock(), ms);
  }

  async #knock(): Promise<void> {
    clearTimeout(this.#timer);
    if (await this.#isThere()) {
      if (!this.#isClosed) return;
      this.#isClosed = false;
      this.#isFirm = false;
      this.#knocks = 0;
      this.#onOpen();
    } else {
      this.#knocks += 1;
      this.#wait(WAITS_MS[Math.min(this.#knocks, WAITS_MS.length - 1)] ?? 10_000);
    }
  }
}
