"use client";

import dynamic from "next/dynamic";
import { useState } from "react";

import { useUploads } from "../upload/use-uploads";
import { isAsking, roundOf } from "./forms";

const DuplicateDocumentModal = dynamic(() => import("./duplicate-document-modal").then((module) => module.DuplicateDocumentModal), { ssr: false });

/** Asks about one file after the other, whichever page is shown. The dialog is loaded the first time it is needed. */
export function DuplicateSlot() {
  const waiting = useUploads().filter(isAsking);
  const [round, setRound] = useState<readonly number[]>([]);
  const now = roundOf(round, waiting);
  if (now !== round) setRound(now);
  const current = waiting[0];
  if (!current) return null;
  return <DuplicateDocumentModal key={current.id} item={current} waiting={waiting} number={now.indexOf(current.id) + 1} all={now.length} />;
}
