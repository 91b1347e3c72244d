"use client";

import * as Radix from "@radix-ui/react-dialog";
import { useId, useRef, useState } from "react";

import { Icon } from "@/components/ui/icons";
import { palette as t } from "@/text";

import type { Option } from "./options";
import { closePalette } from "./palette-state";
import { PaletteList } from "./palette-list";
import { useOptions } from "./use-options";

/** Find or do anything, by keyboard alone. */
export function Palette() {
  const [typed, setTyped] = useState("");
  const { options, isLooking, hasFailed } = useOptions(typed);
  const [at, setAt] = useState<{ of: string; index: number }>({ of: "", index: 0 });
  const index = Math.min(at.of === typed ? at.index : 0, Math.max(0, options.length - 1));
  const list = useId();
  const opener = useRef<Element | null>(null);
  const todo = useRef<(() => void) | null>(null);

  const choose = (option: Option | undefined) => {
    if (!option) return;
    // It runs when the focus is back where it was: an act may want it elsewhere.
    todo.current = option.run;
    closePalette();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && options.length > 0) {
      event.preventDefault();
      setAt({ of: typed, index: (index + step + options.length) % options.length });
    }
    if (event.key === "Enter") {
      event.preventDefault();
      choose(event.ctrlKey || event.metaKey ? options.find((option) => option.group === "passages") : options[index]);
    }
  };

  return (
    <Radix.Root open onOpenChange={(open) => !open && closePalette()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-[65] animate-fade bg-shade" />
        <Radix.Content
          aria-describedby={undefined}
          onOpenAutoFocus={() => {
            opener.current = document.activeElement;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (opener.current instanceof HTMLElement) opener.current.focus();
            todo.current?.();
            todo.current = null;
          }}
          className="fixed inset-x-0 top-[12dvh] z-[66] mx-auto flex max-h-[70dvh] w-[min(560px,calc(100vw-16px))] animate-rise flex-col overflow-hidden rounded-dialog border border-line-2 bg-raised shadow-3 outline-none max-md:top-2"
        >
          <Radix.Title className="sr-only">{t.label}</Radix.Title>
          <div className="flex h-12 shrink-0 items-center gap-2.5 border-b border-line px-4">
            <Icon name="search" className="text-ink-3" />
            <input
              role="combobox"
              aria-label={t.label}
              aria-expanded={options.length > 0}
              aria-controls={list}
              aria-activedescendant={options[index] ? `${list}-${index}` : undefined}
              aria-autocomplete="list"
              placeholder={t.placeholder}
              value={typed}
              maxLength={200}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setTyped(event.target.value)}
              onKeyDown={onKeyDown}
              className="h-full w-full min-w-0 bg-transparent text-16 outline-none"
            />
            <kbd className="coarse:hidden">{t.close}</kbd>
          </div>
          <PaletteList id={list} options={options} index={index} onPoint={(pointed) => setAt({ of: typed, index: pointed })} onChoose={choose} />
          <p role="status" className="sr-only">
            {isLooking ? t.looking : t.count(options.length)}
          </p>
          {hasFailed && <p className="border-t border-line px-4 py-2 text-12 text-ink-3">{t.failed}</p>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
