/**
 * Filters, sorting, page and the open thing live in the address, parsed here and nowhere else.
 *
 *     const view = defineView({ q: text(), sort: oneOf(SORTS, "-created_at"), page: integer(1) });
 *     const [state, change] = useView(view);
 *     change({ q: "lease" });          // a new entry in the history, page goes back to 1
 *     <Link href={view.href("/kb", { id, status: ["failed"] })}>
 *
 * A value that makes no sense is the default, a default is left out of the address.
 */
import { useSearchParams } from "next/navigation";
import { useCallback, useMemo } from "react";

export interface Codec<Value> {
  initial: Value;
  // As methods: a codec of some type has to pass for one of any type.
  parse(raw: readonly string[]): Value;
  format(value: Value): readonly string[];
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type StateOf<F> = { [Name in keyof F]: F[Name] extends Codec<infer Value> ? Value : never };

export interface View<State> {
  parse: (search: URLSearchParams) => State;
  /** The address of `path` in this state; what is left out has its default. */
  href: (path: string, state: Partial<State>) => string;
  /** The state after a change. Whatever changes the list goes back to its first page. */
  after: (state: State, change: Partial<State>) => State;
  initial: State;
}

export function text(initial = ""): Codec<string> {
  return { initial, parse: ([raw]) => raw ?? initial, format: (value) => (value === initial ? [] : [value]) };
}

export function oneOf<const Value extends string>(values: readonly Value[], initial: NoInfer<Value>): Codec<Value> {
  return {
    initial,
    parse: ([raw]) => values.find((value) => value === raw) ?? initial,
    format: (value) => (value === initial ? [] : [value]),
  };
}

/** Several at once, in the order of `values`; none means no filter. */
export function manyOf<const Value extends string>(values: readonly Value[]): Codec<readonly Value[]> {
  return { initial: [], parse: (raw) => values.filter((value) => raw.includes(value)), format: (chosen) => chosen };
}

/** Several ids; what is no id is left out. */
export function identifiers(): Codec<readonly string[]> {
  return { initial: [], parse: (raw) => [...new Set(raw.filter((id) => ID.test(id)).map((id) => id.toLowerCase()))], format: (chosen) => chosen };
}

export function integer(initial: number, { min = 1, max = 1_000_000 } = {}): Codec<number> {
  return {
    initial,
    parse: ([raw]) => {
      const value = raw && /^-?\d+$/.test(raw) ? Number(raw) : initial;
      return value >= min && value <= max ? value : initial;
    },
    format: (value) => (value === initial ? [] : [String(value)]),
  };
}

export function oneOfNumbers<const Value extends number>(values: readonly Value[], initial: NoInfer<Value>): Codec<Value> {
  return {
    initial,
    parse: ([raw]) => values.find((value) => String(value) === raw) ?? initial,
    format: (value) => (value === initial ? [] : [String(value)]),
  };
}

/** A day, `2026-11-15`, or nothing. */
export function day(): Codec<string> {
  return {
    initial: "",
    parse: ([raw]) => (raw && /^\d{4}-\d\d-\d\d$/.test(raw) && !Number.isNaN(Date.parse(raw)) ? raw : ""),
    format: (value) => (value ? [value] : []),
  };
}

/** The id of something, or nothing: what is no id would only be refused. */
export function identifier(): Codec<string> {
  return {
    initial: "",
    parse: ([raw]) => (raw && ID.test(raw) ? raw.toLowerCase() : ""),
    format: (value) => (value ? [value] : []),
  };
}

export function flag(): Codec<boolean> {
  return { initial: false, parse: ([raw]) => raw === "1", format: (value) => (value ? ["1"] : []) };
}

/** How many rows a list shows at once. */
export const PAGE_SIZES = [10, 20, 50, 100] as const;

export function defineView<const F extends Readonly<Record<string, Codec<unknown>>>>(fields: F): View<StateOf<F>> {
  type State = StateOf<F>;
  const entries = Object.entries(fields) as [keyof F & string, Codec<unknown>][];
  const initial = Object.fromEntries(entries.map(([name, codec]) => [name, codec.initial])) as State;
  return {
    initial,
    parse: (search) => Object.fromEntries(entries.map(([name, codec]) => [name, codec.parse(search.getAll(name))])) as State,
    href: (path, state) => {
      const search = new URLSearchParams();
      for (const [name, codec] of entries) {
        if (!(name in state) || state[name] === undefined) continue;
        for (const value of codec.format(state[name])) search.append(name, value);
      }
      const query = search.toString();
      return query ? `${path}?${query}` : path;
    },
    after: (state, change) => {
      const first = "page" in initial && !("page" in change) ? { page: (initial as { page: unknown }).page } : {};
      return { ...state, ...first, ...change };
    },
  };
}

export type Change<State> = (change: Partial<State>, options?: { replace?: boolean }) => void;

/** The state of the address, and a way to change it. `replace` for what is typed: no entry in the history per letter. */
export function useView<State>(view: View<State>): [State, Change<State>] {
  const search = useSearchParams();
  const query = search.toString();
  const state = useMemo(() => view.parse(new URLSearchParams(query)), [view, query]);
  const change = useCallback<Change<State>>(
    (wanted, { replace = false } = {}) => {
      // What the address says now, not what the last render saw: two changes in one moment both count.
      const now = view.parse(new URLSearchParams(window.location.search));
      const href = view.href(window.location.pathname, view.after(now, wanted));
      window.history[replace ? "replaceState" : "pushState"](null, "", href);
    },
    [view],
  );
  return [state, change];
}
