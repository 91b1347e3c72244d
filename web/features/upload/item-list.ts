/**
 * The files of a queue, in the order in which they were added. Listeners are notified a few times a second at most: a
 * folder of a thousand files has thousands of changes, and each would render the tray again.
 */
import { isFinished, type UploadItem } from "./item";

const EVERY_MS = 100;

export class ItemList {
  readonly #items = new Map<number, UploadItem>();
  readonly #byDocument = new Map<string, Set<number>>();
  readonly #watchers = new Set<() => void>();
  #snapshot: readonly UploadItem[] | null = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #toldAt = 0;
  #doneBefore = 0;

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** The same object until something changes. */
  items(): readonly UploadItem[] {
    this.#snapshot ??= [...this.#items.values()];
    return this.#snapshot;
  }

  get(id: number): UploadItem | undefined {
    return this.#items.get(id);
  }

  ofDocument(documentId: string): readonly UploadItem[] {
    return [...(this.#byDocument.get(documentId) ?? [])].flatMap((id) => this.#items.get(id) ?? []);
  }

  /** How many were done and have been removed, since there was nothing left to do. */
  get doneBefore(): number {
    return this.#doneBefore;
  }

  set(item: UploadItem): void {
    const before = this.#items.get(item.id);
    if (before?.documentId !== item.documentId) {
      this.#unlink(before);
      this.#link(item);
    }
    this.#items.set(item.id, item);
    this.#changed();
  }

  remove(id: number, { wasDone }: { wasDone: boolean }): void {
    this.#unlink(this.#items.get(id));
    this.#items.delete(id);
    if (wasDone) this.#doneBefore += 1;
    if (this.#isAtRest()) this.#doneBefore = 0;
    this.#changed();
  }

  #isAtRest(): boolean {
    for (const item of this.#items.values()) if (!isFinished(item) || item.state.kind === "done") return false;
    return true;
  }

  #link({ id, documentId }: UploadItem): void {
    if (documentId === null) return;
    this.#byDocument.set(documentId, (this.#byDocument.get(documentId) ?? new Set()).add(id));
  }

  #unlink(item: UploadItem | undefined): void {
    const ids = item?.documentId ? this.#byDocument.get(item.documentId) : undefined;
    if (!item?.documentId || !ids) return;
    ids.delete(item.id);
    if (ids.size === 0) this.#byDocument.delete(item.documentId);
  }

  /** The first change is told at once, those that follow soon after it together. */
  #changed(): void {
    this.#snapshot = null;
    if (this.#timer !== undefined) return;
    const wait = this.#toldAt + EVERY_MS - Date.now();
    if (wait <= 0) this.#tell();
    else this.#timer = setTimeout(() => this.#tell(), Math.min(wait, EVERY_MS));
  }

  #tell(): void {
    this.#timer = undefined;
    this.#toldAt = Date.now();
    for (const watcher of [...this.#watchers]) watcher();
  }
}
