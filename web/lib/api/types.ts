/** The server's words under short names. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Me = Schemas["Me"];
export type OrganizationChoice = Schemas["OrganizationChoice"];
export type Status = Schemas["Status"];
export type StatusCounts = Schemas["StatusCounts"];
export type DocumentType = Schemas["DocumentType"];
export type Document = Schemas["DocumentRead"];
export type DocumentCreated = Schemas["DocumentCreated"] | Schemas["DocumentCreatedAfterAutoClear"];
export type Replaced = Schemas["ReplacedRead"];
export type Moved = Schemas["DocumentStatusRead"];
export type ArchivedDocument = Schemas["ArchivedRead"];
export type Explanation = Schemas["ExplanationRead"];
export type Move = Schemas["Move"];
export type AllowedMove = Schemas["MoveRead"];
export type Run = Schemas["RunRead"];
export type Step = Schemas["StepRead"];
export type DocumentSummary = Schemas["DocumentSummary"];
export type PageItem = Schemas["PageItem"];
export type DocumentPage = Schemas["PageRead"];
export type Layout = Schemas["PageLayout"];
export type Paragraph = Schemas["ParagraphRead"];
export type Diagram = Schemas["DiagramRead"];
export type PageNotes = Schemas["PageAnnotations"];
export type ParagraphNotes = Schemas["ParagraphAnnotations"];
export type DiagramNotes = Schemas["DiagramAnnotations"];
export type Hit = Schemas["HitRead"];
export type SearchMode = Schemas["SearchMode"];
export type SearchAnswer = Schemas["SearchRead"];
export type FileFormat = Schemas["FileFormat"];
export type SearchSort = Schemas["SearchSort"];
export type MatchedBy = Schemas["MatchedBy"];
export type Uploader = Schemas["UploaderRead"];
export type SavedSearch = Schemas["SavedSearchRead"];
export type SavedCriteria = Schemas["SavedCriteria"];
export type PageMatch = Schemas["PageMatchRead"];
export type SimilarAnswer = Schemas["SimilarRead"];
export type KnowledgeBase = Schemas["KnowledgeBaseRead"];
export type KnowledgeBaseChange = Schemas["KnowledgeBasePatch"];
export type KnowledgeBaseRemoved = Schemas["KnowledgeBasePurgeRead"];
export type HandOverPolicy = Schemas["HandoverPolicy"];
export type HandOver = Schemas["HandoverRead"];
export type Standing = Schemas["AccessLevel"];
export type Member = Schemas["MemberRead"];
export type Role = Schemas["Role"];
export type Token = Schemas["TokenRead"];
export type TokenCreated = Schemas["TokenCreatedRead"];
export type User = Schemas["UserRead"];
export type UserChange = Schemas["UserPatch"];
export type Organization = Schemas["OrganizationRead"];
export type AuditEvent = Schemas["EventRead"];
export type Verdict = Schemas["VerdictRead"];
export type Receipt = Schemas["ReceiptRead"];
export type ReceiptListed = Schemas["ReceiptSummaryRead"];
export type BulkArchived = Schemas["BulkArchivedRead"];
export type BulkPurged = Schemas["BulkPurgedRead"];
export type Removed = Schemas["PurgedRead"];
export type BeingRemoved = Schemas["PurgePendingRead"];
export type ArchiveJob = Schemas["QueueEntryRead"];
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
