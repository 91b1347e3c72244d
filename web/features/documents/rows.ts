/**
 * Which rows are shown, and in which order. The list is asked anew all the time; rows must not move under a pointer. New
 * ones wait until the person is at the top, and what was just archived stays in its place for as long as Undo is offered.
 */
export interface Identified {
  readonly id: string;
}

export interface Rows<Row extends Identified> {
  /** Of which view; another one begins anew. */
  readonly key: string;
  readonly rows: readonly Row[];
  /** There, and not shown yet. */
  readonly waiting: number;
  readonly seen: Seen<Row> | null;
}

export interface Seen<Row extends Identified> {
  readonly key: string;
  readonly fresh: readonly Row[];
  readonly limit: number;
  readonly ghosts: ReadonlyMap<string, Row>;
  readonly isHeld: boolean;
}

export const noRows: Rows<never> = { key: "", rows: [], waiting: 0, seen: null };

/** The same object when nothing is new. */
export function arrange<Row extends Identified>(before: Rows<Row>, seen: Seen<Row>): Rows<Row> {
  if (before.seen && isSame(before.seen, seen)) return before;
  const { key, fresh, ghosts } = seen;
  if (before.key !== key || !seen.isHeld) return { key, rows: withGhosts(before.key === key ? before.rows : [], fresh, ghosts), waiting: 0, seen };
  const known = new Set(before.rows.map(({ id }) => id));
  const added = fresh.filter(({ id }) => !known.has(id)).length;
  return { key, rows: kept(before.rows, seen, added), waiting: added, seen };
}

/** Takes the waiting ones in now. */
export function accept<Row extends Identified>(now: Rows<Row>): Rows<Row> {
  if (!now.seen) return now;
  return { ...now, rows: withGhosts(now.rows, now.seen.fresh, now.seen.ghosts), waiting: 0 };
}

function kept<Row extends Identified>(before: readonly Row[], { fresh, limit, ghosts }: Seen<Row>, added: number): readonly Row[] {
  const byId = new Map(fresh.map((row) => [row.id, row]));
  // A full page pushes its last rows out for each new one; whatever else is missing is gone.
  const pushedFrom = fresh.length >= limit ? before.length - added : before.length;
  return before.flatMap((row, index) => byId.get(row.id) ?? (ghosts.has(row.id) || index >= pushedFrom ? row : []));
}

function withGhosts<Row extends Identified>(before: readonly Row[], fresh: readonly Row[], ghosts: ReadonlyMap<string, Row>): readonly Row[] {
  const rows = [...fresh];
  const isShown = new Set(fresh.map(({ id }) => id));
  before.forEach((row, index) => {
    if (!ghosts.has(row.id) || isShown.has(row.id)) return;
    const neighbour = before[index - 1];
    const after = neighbour ? rows.findIndex(({ id }) => id === neighbour.id) + 1 : 0;
    rows.splice(neighbour && after === 0 ? Math.min(index, rows.length) : after, 0, row);
  });
  return rows;
}

function isSame<Row extends Identified>(a: Seen<Row>, b: Seen<Row>): boolean {
  return a.key === b.key && a.fresh === b.fresh && a.ghosts === b.ghosts && a.isHeld === b.isHeld && a.limit === b.limit;
}
