"use client";

import { Dialog } from "@/components/ui/dialog";
import { useKeysOn } from "@/lib/preferences";
import { shell } from "@/text";

import { allKeys } from "./keys";

const SHOWN: Record<string, string> = { "Mod+k": "Ctrl K", ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

/** All keys that count right now, behind `?`. */
export function KeysDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [isOn] = useKeysOn();
  const listed = isOpen ? allKeys().filter((binding) => binding.does) : [];
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={shell.keys.title} hasCloseButton>
      {!isOn && <p className="mb-3">{shell.keys.off}</p>}
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2">
        {[...new Map(listed.map((binding) => [binding.keys, binding])).values()].map((binding) => (
          <div key={binding.keys} className="contents">
            <dt className="flex gap-1">
              {binding.keys.split(" ").map((key) => (
                <kbd key={key}>{SHOWN[key] ?? (key.length === 1 ? key.toUpperCase() : key)}</kbd>
              ))}
            </dt>
            <dd className="text-ink">{binding.does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
