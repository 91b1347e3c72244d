/** What was tried with each file so far. */
interface Attempts {
  /** When the first of them began. */
  began: number;
  /** How often the connection broke. */
  breaks: number;
  /** One was stopped for the sake of another file in its request. */
  isInterrupted: boolean;
}

export class AttemptLog {
  readonly #attempts = new Map<number, Attempts>();

  of(id: number): Readonly<Attempts> {
    const known = this.#attempts.get(id) ?? { began: Date.now(), breaks: 0, isInterrupted: false };
    this.#attempts.set(id, known);
    return known;
  }

  broke(id: number): void {
    this.#attempts.set(id, { ...this.of(id), breaks: this.of(id).breaks + 1 });
  }

  interrupted(id: number): void {
    this.#attempts.set(id, { ...this.of(id), isInterrupted: true });
  }

  /** Whether it has to be sent alone, because a request with it failed. */
  readonly isAlone = (id: number): boolean => (this.#attempts.get(id)?.breaks ?? 0) > 0;

  forget(id: number): void {
    this.#attempts.delete(id);
  }
}
