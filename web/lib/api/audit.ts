/** The audit trail and the receipts of what was destroyed. */
import { call, urlOf, type Query } from "./client";

export type AuditQuery = Query<"/api/v1/audit">;

export const listEvents = (query: AuditQuery, signal?: AbortSignal) => call("get", "/api/v1/audit", { query, signal });

/** Reads the whole chain: minutes, where it is long. */
export const verifyAudit = (query: Query<"/api/v1/audit/verify">, signal?: AbortSignal) => call("get", "/api/v1/audit/verify", { query, signal, timeout: 300 });

export const auditExportUrl = (query: Query<"/api/v1/audit/export">) => urlOf("/api/v1/audit/export", { query });

export const getAuditKeys = (signal?: AbortSignal) => call("get", "/api/v1/audit/key", { signal });

export const listReceipts = (query: Query<"/api/v1/receipts">, signal?: AbortSignal) => call("get", "/api/v1/receipts", { query, signal });

export const getReceipt = (receiptId: string, signal?: AbortSignal) =>
  call("get", "/api/v1/receipts/{receipt_id}", { path: { receipt_id: receiptId }, signal });

/** Where the browser saves it from, byte for byte as it was signed. */
export const receiptUrl = (receiptId: string) => urlOf("/api/v1/receipts/{receipt_id}", { path: { receipt_id: receiptId } });
