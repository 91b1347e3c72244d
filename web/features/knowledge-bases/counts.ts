import type { KnowledgeBase } from "@/lib/api";

/** All documents, whatever their status. */
export const documentsOf = ({ counts }: KnowledgeBase): number => counts.pending + counts.processing + counts.completed + counts.failed + counts.archived;
