/** The server's words under short names. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Me = Schemas["Me"];
export type Status = Schemas["Status"];
export type StatusCounts = Schemas["StatusCounts"];
export type DocumentType = Schemas["DocumentType"];
export type Document = Schemas["DocumentRead"];
export type DocumentCreated = Schemas["DocumentCreated"] | Schemas["DocumentCreatedAfterClearing"];
export type Replaced = Schemas["ReplacedRead"];
export type Moved = Schemas["MovedRead"];
export type ArchivedDocument = Schemas["ArchivedRead"];
export type Explanation = Schemas["ExplanationRead"];
export type Move = Schemas["Move"];
export type AllowedMove = Schemas["MoveRead"];
export type Run = Schemas["RunRead"];
export type Step = Schemas["StepRead"];
export type DocumentSummary = Schemas["DocumentSummary"];
export type PageItem = Schemas["PageItem"];
export type DocumentPage = Schemas["PageRead"];
export type Layout = Schemas["Layout"];
export type Paragraph = Schemas["ParagraphRead"];
export type Diagram = Schemas["DiagramRead"];
export type PageNotes = Schemas["PageNotes"];
export type ParagraphNotes = Schemas["ParagraphNotes"];
export type DiagramNotes = Schemas["DiagramNotes"];
export type Hit = Schemas["HitRead"];
export type SearchMode = Schemas["Mode"];
export type SearchAnswer = Schemas["SearchRead"];
export type PageMatch = Schemas["PageMatchRead"];
export type SimilarAnswer = Schemas["SimilarRead"];
export type KnowledgeBase = Schemas["KnowledgeBaseRead"];
export type KnowledgeBaseChange = Schemas["KnowledgeBasePatch"];
export type KnowledgeBaseRemoved = Schemas["KnowledgeBaseRemovedRead"];
export type HandOverPolicy = Schemas["HandOverPolicy"];
export type HandOver = Schemas["HandOverRead"];
export type Standing = Schemas["Standing"];
export type Member = Schemas["MemberRead"];
export type Role = Schemas["Role"];
export type Token = Schemas["TokenRead"];
export type TokenCreated = Schemas["TokenCreated"];
export type User = Schemas["UserRead"];
export type UserChange = Schemas["UserPatch"];
export type Organization = Schemas["OrganizationRead"];
export type AuditEvent = Schemas["muniment__audit__schemas__EventRead"];
export type Verdict = Schemas["VerdictRead"];
export type Receipt = Schemas["ReceiptRead"];
export type ReceiptListed = Schemas["ReceiptListed"];
export type BulkArchived = Schemas["BulkArchivedRead"];
export type BulkPurged = Schemas["BulkPurgedRead"];
export type Removed = Schemas["RemovedRead"];
export type BeingRemoved = Schemas["BeingRemovedRead"];
export type ArchiveJob = Schemas["ArchiveJobRead"];
export type QueueNumbers = Schemas["QueueRead"];
export type Savings = Schemas["SavingsRead"];
export type Reconciliation = Schemas["ReconcileRead"];
export type Readiness = Schemas["Readiness"];

/** Every list of the API. */
export interface Page<Item> {
  items: Item[];
  total: number;
  page: number;
  limit: number;
}
