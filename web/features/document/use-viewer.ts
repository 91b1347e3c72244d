"use client";

import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import type { Document, DocumentPlace } from "@/lib/api";
import { documentView } from "@/lib/hrefs";
import type { Span } from "@/lib/spans";
import { useView } from "@/lib/url-state";

import { firstFrom, matchesOf, stepFrom, type Match } from "./matches";
import type { NotePlace } from "./notes";
import { findPassage } from "./passage";
import { useFound } from "./use-document";
import { usePage } from "./use-page";

const NO_MATCHES: readonly Match[] = [];

/** Which pane still has to bring the place that was asked for into view; whoever shows it takes the wish away. */
export interface Wishes {
  pages: boolean;
  text: boolean;
}

/** Where somebody is in a document, and how they get elsewhere. The address holds it. */
export function useViewer(place: DocumentPlace, document: Document) {
  const [state, change] = useView(documentView);
  const pages = Math.max(1, document.total_pages ?? 1);
  const page = Math.min(state.page, pages);
  // With its own page: the address follows a moment later.
  const [jump, setJump] = useState({ count: 0, page });
  const wishes = useRef<Wishes>({ pages: true, text: true });
  const [hovered, setHovered] = useState<NotePlace | null>(null);

  const arrive = useCallback((at: number) => {
    wishes.current = { pages: true, text: true };
    setJump(({ count }) => ({ count: count + 1, page: at }));
  }, []);
  const goTo = useCallback(
    (wanted: number) => {
      const to = Math.min(pages, Math.max(1, wanted));
      change({ page: to, at: "" }, { replace: true });
      arrive(to);
    },
    [arrive, change, pages],
  );
  /** Somebody scrolled there themselves. */
  const follow = useCallback((seen: number) => change({ page: seen }, { replace: true }), [change]);

  const finding = useFinding(place, document, { page, find: state.find, at: state.at });
  // Whoever types what to find is taken to the first one, as soon as it is known.
  const first = finding.isJump ? finding.first : null;
  useEffect(() => {
    if (!first) return;
    change({ page: first.page }, { replace: true });
    arrive(first.page);
  }, [first, change, arrive]);
  const show = (index: number | null) => {
    const match = index === null ? undefined : finding.matches[index];
    if (!match) return;
    finding.choose(index);
    change({ page: match.page }, { replace: true });
    arrive(match.page);
  };

  return {
    place,
    document,
    pages,
    page,
    goTo,
    follow,
    jumps: jump.count,
    jumpedTo: jump.page,
    wishes,
    hovered,
    setHovered,
    find: state.find,
    setFind: (find: string) => {
      finding.begin(page);
      change({ find, page, at: "" }, { replace: true });
    },
    matches: finding.matches,
    match: finding.current === null ? null : (finding.matches[finding.current] ?? null),
    matchIndex: finding.current,
    isFinding: finding.isFinding,
    hasFindFailed: finding.hasFailed,
    passage: finding.passage,
    step: (step: 1 | -1) => show(stepFrom(finding.matches, finding.current, step, page)),
    view: state.view,
    tab: state.tab,
    /** The page stays where it is whatever else changes. */
    change: (wanted: Parameters<typeof change>[0]) => change({ page, ...wanted }, { replace: true }),
  };
}

export type Viewer = ReturnType<typeof useViewer>;

function useFinding(place: DocumentPlace, document: Document, at: { page: number; find: string; at: string }) {
  const canFind = document.status === "completed";
  const found = useFound(place, canFind ? at.find : "");
  const matches = useMemo(() => (at.find.trim() && found.data ? matchesOf(found.data.items) : NO_MATCHES), [at.find, found.data]);
  const [origin, setOrigin] = useState<{ page: number; isJump: boolean }>({ page: at.page, isJump: false });
  const [chosen, setChosen] = useState<{ of: readonly Match[]; index: number | null } | null>(null);
  const passage = usePassage(place, origin.page, at.at);
  const first = useMemo(() => firstFrom(matches, origin.page, passage?.[0] ?? 0, origin.isJump), [matches, origin, passage]);
  return {
    matches,
    passage: passage ? { page: origin.page, span: passage } : null,
    current: chosen && chosen.of === matches ? chosen.index : first,
    first: first === null ? null : (matches[first] ?? null),
    isJump: origin.isJump,
    isFinding: found.isFetching && at.find.trim() !== "",
    hasFailed: found.isError,
    choose: (index: number | null) => setChosen({ of: matches, index }),
    begin: (page: number) => setOrigin({ page, isJump: true }),
  };
}

/** The passage that the address names, in the text of its page. */
function usePassage(place: DocumentPlace, page: number, at: string): Span | null {
  const { data } = usePage(place, page, at !== "");
  return useMemo(() => (data && at ? findPassage(data.text, at) : null), [data, at]);
}
