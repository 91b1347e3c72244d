"use client";

import { Tabs, TabPanel } from "@/components/ui/tabs";
import type { Standing } from "@/lib/api";
import { formatCount } from "@/lib/format";
import { document as t } from "@/text";

import { ExplainPanel } from "./explain-panel";
import { HistoryPanel } from "./history-panel";
import { NotesPanel } from "./notes-panel";
import { SimilarPanel } from "./similar-panel";
import type { useNotes } from "./use-notes";
import type { Viewer } from "./use-viewer";

export interface PanelProps {
  viewer: Viewer;
  standing: Standing;
  notes: ReturnType<typeof useNotes>;
  mayWrite: boolean;
}

/** Everything about the document that is not its text, behind tabs. */
export function Panel(props: PanelProps) {
  const { viewer, notes } = props;
  const count = notes.data && notes.data.length > 0 ? formatCount(notes.data.length) : undefined;
  return (
    <Tabs
      label={t.tabs.label}
      value={viewer.tab}
      onChoose={(tab) => viewer.change({ tab })}
      tabs={[
        { value: "history", label: t.tabs.history },
        { value: "similar", label: t.tabs.similar },
        { value: "notes", label: t.tabs.notes, count },
        { value: "explain", label: t.tabs.explain },
      ]}
      className="flex flex-col gap-3"
    >
      <TabPanel value={viewer.tab}>
        <PanelContent {...props} />
      </TabPanel>
    </Tabs>
  );
}

/** One of them, without the tabs. */
export function PanelContent({ viewer, standing, notes, mayWrite }: PanelProps) {
  const { place, document, tab } = viewer;
  if (tab === "similar") return <SimilarPanel place={place} document={document} />;
  if (tab === "notes") return <NotesPanel viewer={viewer} notes={notes} mayWrite={mayWrite} />;
  if (tab === "explain") return <ExplainPanel place={place} />;
  return <HistoryPanel place={place} document={document} standing={standing} />;
}
