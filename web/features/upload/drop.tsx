"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { useEffect, useRef, useState } from "react";

import { showToast } from "@/components/ui/toast-store";
import { withName } from "@/components/ui/with-name";
import { useKnowledgeBase, useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { mayEdit } from "@/features/session/rights";
import type { KnowledgeBase } from "@/lib/api";
import { plural } from "@/lib/format";
import { common, upload as t } from "@/text";

import { DuplicateSlot } from "../duplicate/duplicate-slot";
import { filesOf } from "./entries";
import { uploads, uploadType } from "./uploads";

/** The whole window takes files; mounted once, on every page. What is dropped beside a target must not replace the page. */
export function UploadDrop() {
  const target = useTarget();
  const isOver = useDragging(target);
  return (
    <>
      {isOver && <Overlay target={target} />}
      <DuplicateSlot />
    </>
  );
}

interface Target {
  id: string;
  /** Undefined while it loads: nobody should have to wait with a file in the hand. The server has the last word. */
  kb: KnowledgeBase | undefined;
}

/** The knowledge base that is shown; where none is, the only one there is. */
function useTarget(): Target | undefined {
  const path = usePathname();
  const search = useSearchParams();
  const shown = (path === "/kb" ? search.get("id") : path === "/document" ? search.get("kb") : null) ?? "";
  const { data: kb } = useKnowledgeBase(shown);
  const all = useKnowledgeBases().data?.items ?? [];
  if (shown) return { id: shown, kb };
  const [only] = all;
  return only && all.length === 1 ? { id: only.id, kb: only } : undefined;
}

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

function useDragging(target: Target | undefined): boolean {
  const [isOver, setOver] = useState(false);
  const current = useRef(target);
  useEffect(() => {
    current.current = target;
  });
  useEffect(() => {
    let depth = 0; // each element on the way says enter and leave
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = isOpenTo(current.current) ? "copy" : "none";
    };
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      if (event.dataTransfer && isOpenTo(current.current)) void take(event.dataTransfer, current.current.id);
    };
    const listeners = { dragover: over, dragenter: enter, dragleave: leave, drop } as const;
    for (const [type, listener] of Object.entries(listeners)) window.addEventListener(type, listener as EventListener);
    return () => {
      for (const [type, listener] of Object.entries(listeners)) window.removeEventListener(type, listener as EventListener);
    };
  }, []);
  return isOver;
}

const isOpenTo = (target: Target | undefined): target is Target => target !== undefined && (!target.kb || mayEdit(target.kb.role));

async function take(transfer: DataTransfer, kbId: string): Promise<void> {
  const { files, unreadable } = await filesOf(transfer);
  if (files.length > 0) uploads.add(kbId, files, uploadType.get());
  else if (unreadable === 0) showToast({ text: t.nothingInside, icon: "folder" });
  if (unreadable > 0) showToast({ text: t.unreadable(plural(unreadable, t.one, t.many)), icon: "alert", tone: "alert" });
}

/** Over the sheet, with a petrol edge and one line. It takes no events: the window does. */
function Overlay({ target }: { target: Target | undefined }) {
  const box = document.getElementById("main")?.getBoundingClientRect();
  const type = uploadType.get();
  return (
    <div
      className="pointer-events-none fixed z-[55] grid animate-fade place-items-center rounded-sheet border-2 border-petrol bg-sheet/85 p-6 text-center"
      style={box && { top: Math.max(0, box.top), left: box.left, width: box.width, height: Math.min(box.height, window.innerHeight - Math.max(0, box.top)) }}
    >
      <div role="status">
        <p className="font-doc text-20 font-semibold [overflow-wrap:anywhere]">{sentenceFor(target)}</p>
        {isOpenTo(target) && type !== "other" && <p className="mt-1 text-13 text-ink-2">{t.drop.as(common.documentTypes[type])}</p>}
      </div>
    </div>
  );
}

function sentenceFor(target: Target | undefined) {
  if (!target) return t.drop.nowhere;
  if (!target.kb) return t.drop.here;
  return withName(isOpenTo(target) ? t.drop.to : t.drop.notAllowed, target.kb.name);
}
