"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";

import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { findDocuments, keys, type KnowledgeBase } from "@/lib/api";
import { hrefOfDocument, hrefOfKnowledgeBase, hrefOfSearch } from "@/lib/hrefs";
import { useDebounced } from "@/lib/use-debounced";
import { palette as t } from "@/text";

import type { Option } from "./options";
import { fitOf, ranked } from "./ranking";
import { useActions } from "./use-actions";

const CALM_MS = 180;
const MOST = { actions: 6, documents: 6, knowledgeBases: 5 };
const MOST_ASKED = 50;
const NONE: readonly KnowledgeBase[] = [];

/** What the palette offers for what is typed, in its groups. */
export function useOptions(typed: string): { options: readonly Option[]; isLooking: boolean; hasFailed: boolean } {
  const router = useRouter();
  const bases = useKnowledgeBases().data?.items ?? NONE;
  const q = typed.trim();
  const { documents, isLooking, hasFailed } = useNamed(q);
  const names = new Map(bases.map((kb) => [kb.id, kb.name]));

  const actions = ranked(useActions(bases), q, (action) => action.label)
    .slice(0, MOST.actions)
    .map((action): Option => ({ ...action, group: "actions", ...(action.keys ? { keys: action.keys } : {}) }));
  const found = documents.map(
    (document): Option => ({
      id: document.id,
      group: "documents",
      label: document.name,
      spans: fitOf(document.name, q)?.spans ?? [],
      icon: "document",
      hint: names.get(document.kb_id) ?? "",
      run: () => router.push(hrefOfDocument({ kbId: document.kb_id, documentId: document.id })),
    }),
  );
  const places = ranked(
    bases.map((kb) => ({ kb })),
    q,
    ({ kb }) => kb.name,
  )
    .slice(0, MOST.knowledgeBases)
    .map(
      ({ kb, spans }): Option => ({
        id: kb.id,
        group: "knowledgeBases",
        label: kb.name,
        spans,
        icon: "folder",
        run: () => router.push(hrefOfKnowledgeBase(kb.id)),
      }),
    );
  const passages: Option[] = q
    ? [{ id: "passages", group: "passages", label: t.searchFor(q), spans: [], icon: "search", keys: t.searchKey, run: () => router.push(hrefOfSearch(q)) }]
    : [];
  return { options: [...actions, ...found, ...places, ...passages], isLooking, hasFailed };
}

/** Documents whose name holds every word that is typed; the server is asked for the longest, when the typing stands still. */
function useNamed(q: string) {
  const asked = useDebounced(longestOf(q), CALM_MS);
  const { data, isFetching, isError } = useQuery({
    queryKey: keys.documents("everywhere", { search: asked }),
    queryFn: ({ signal }) => findDocuments({ search: asked, limit: MOST_ASKED }, signal),
    enabled: asked !== "",
    placeholderData: asked === "" ? undefined : keepPreviousData,
    staleTime: 30_000,
  });
  return {
    documents: q === "" ? [] : (data?.items ?? []).filter((document) => fitOf(document.name, q)).slice(0, MOST.documents),
    isLooking: q !== "" && (asked !== longestOf(q) || isFetching),
    hasFailed: q !== "" && isError,
  };
}

const longestOf = (q: string): string => q.split(/\s+/).reduce((longest, word) => (word.length > longest.length ? word : longest), "");
