"use client";

import { Suspense, type ReactNode } from "react";

import { useKnowledgeBases } from "@/features/knowledge-bases/use-knowledge-bases";
import { PaletteSlot } from "@/features/palette/palette-slot";
import { SignedIn, usePerson } from "@/features/session/signed-in";
import { UploadDrop } from "@/features/upload/drop";
import { PageSkeleton } from "@/components/ui/skeleton";
import { shell } from "@/text";

import { GlobalKeys } from "./global-keys";
import { LiveConnection } from "./live-connection";
import { BottomBar, TopBar } from "./narrow-bars";
import { OfflineStrip } from "./offline-strip";
import { Sidebar } from "./sidebar";
import { useRail } from "./use-rail";

/** The frame of every page behind the sign-in: desk, tabs, one sheet. */
export function Shell({ children }: { children: ReactNode }) {
  return (
    <Suspense fallback={<Waiting />}>
      <SignedIn waiting={<Waiting />}>
        <Frame>{children}</Frame>
      </SignedIn>
    </Suspense>
  );
}

function Frame({ children }: { children: ReactNode }) {
  const me = usePerson();
  const { data } = useKnowledgeBases();
  const knowledgeBases = data?.items ?? [];
  const { isForced, isRail } = useRail();
  return (
    <>
      <a href="#main" className="fixed top-[-60px] left-3 z-[90] rounded-control bg-raised px-3.5 py-2 focus:top-3 focus:shadow-2">
        {shell.skip}
      </a>
      <TopBar me={me} />
      <div className="frame" data-rail={isForced}>
        <Sidebar me={me} knowledgeBases={knowledgeBases} isRail={isRail} />
        <main id="main" tabIndex={-1} className="sheet outline-none">
          <OfflineStrip />
          {children}
        </main>
      </div>
      <BottomBar me={me} knowledgeBases={knowledgeBases} />
      <LiveConnection />
      <GlobalKeys me={me} knowledgeBases={knowledgeBases} />
      <UploadDrop />
      <PaletteSlot />
    </>
  );
}

/** The desk with an empty sheet: what is there before anybody is known. Nothing moves when the rest comes. */
function Waiting() {
  return (
    <div className="frame">
      <div className="side" />
      <div className="sheet">
        <PageSkeleton />
      </div>
    </div>
  );
}
