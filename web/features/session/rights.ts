/** What a person may do, from what the server says of them. The server decides; this only leaves out what it would refuse. */
import type { KnowledgeBase, Me, Standing } from "@/lib/api";

/** Archive, restore, purge, clear, cancel, replace, rename, members. */
export const mayManage = (standing: Standing): boolean => standing === "owner" || standing === "admin";

/** Upload, retry, annotate. */
export const mayEdit = (standing: Standing): boolean => mayManage(standing) || standing === "editor";

/** The archive and the audit log are for owners, of what is theirs, and for admins. */
export const seesArchive = (me: Me, knowledgeBases: readonly KnowledgeBase[]): boolean => me.is_admin || knowledgeBases.some((kb) => mayManage(kb.role));

export const managesPeople = (me: Me): boolean => me.is_admin || me.is_operator;

export const operates = (me: Me): boolean => me.is_operator;

/** Operators see the installation there, admins what concerns their organization. */
export const seesOperations = (me: Me): boolean => me.is_operator || me.is_admin;
