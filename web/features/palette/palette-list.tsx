"use client";

import { useEffect, useRef } from "react";

import { Icon } from "@/components/ui/icons";
import { piecesOf, type Span } from "@/lib/spans";
import { palette as t } from "@/text";

import type { GroupName, Option } from "./options";

const GROUPS: readonly GroupName[] = ["actions", "documents", "knowledgeBases", "passages"];

export function PaletteList({
  id,
  options,
  index,
  onPoint,
  onChoose,
}: {
  id: string;
  options: readonly Option[];
  index: number;
  onPoint: (index: number) => void;
  onChoose: (option: Option) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [index, options]);
  return (
    <div ref={list} id={id} role="listbox" aria-label={t.results} className="min-h-0 overflow-auto p-1.5">
      {GROUPS.map((group) => {
        const members = options.flatMap((option, at) => (option.group === group ? [{ option, at }] : []));
        if (members.length === 0) return null;
        return (
          <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
            <p id={`${id}-${group}`} className="px-2 pt-2 pb-1 text-12 font-semibold text-ink-3">
              {t.groups[group]}
            </p>
            {members.map(({ option, at }) => (
              <div
                key={option.id}
                id={`${id}-${at}`}
                role="option"
                aria-selected={at === index}
                onPointerMove={() => at !== index && onPoint(at)}
                onClick={() => onChoose(option)}
                className="flex min-h-8 cursor-pointer items-center gap-2.5 rounded-control px-2 py-1 text-13 aria-selected:bg-petrol-soft coarse:min-h-11"
              >
                <Icon name={option.icon} className="text-ink-3" />
                <bdi className="min-w-0 flex-1 truncate">
                  <Letters label={option.label} spans={option.spans} />
                </bdi>
                {option.hint && <bdi className="max-w-[40%] shrink-0 truncate text-12 text-ink-3">{option.hint}</bdi>}
                {option.keys && <kbd className="shrink-0 coarse:hidden">{shown(option.keys)}</kbd>}
              </div>
            ))}
          </div>
        );
      })}
    </div>
  );
}

/** The letters that were typed are underlined; a highlighter is for passages only. */
function Letters({ label, spans }: { label: string; spans: readonly Span[] }) {
  return piecesOf(label, spans).map((piece, index) =>
    piece.span === null ? (
      <span key={index}>{piece.text}</span>
    ) : (
      <span key={index} className="font-semibold underline decoration-petrol underline-offset-[3px]">
        {piece.text}
      </span>
    ),
  );
}

/** `g a` as it is read: G A. */
const shown = (keys: string): string =>
  keys
    .split(" ")
    .map((key) => (key.length === 1 ? key.toUpperCase() : key))
    .join(" ");
