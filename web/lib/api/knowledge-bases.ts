/** Knowledge bases and who belongs to them. */
import { call, type Query } from "./client";
import type { KnowledgeBaseChange, Role } from "./types";

const ALL = "/api/v1/knowledge-bases";
const ONE = `${ALL}/{kb_id}` as const;
const MEMBER = `${ONE}/members/{user_id}` as const;

export const listKnowledgeBases = (query: Query<typeof ALL>, signal?: AbortSignal) => call("get", ALL, { query, signal });

export const getKnowledgeBase = (kbId: string, signal?: AbortSignal) => call("get", ONE, { path: { kb_id: kbId }, signal });

export const createKnowledgeBase = (name: string, description = "") => call("post", ALL, { body: { name, description } });

export const changeKnowledgeBase = (kbId: string, change: KnowledgeBaseChange) => call("patch", ONE, { path: { kb_id: kbId }, body: change });

/** Null when it was empty and is gone. With `purge` it takes its documents along, by several calls where they are many. */
export const removeKnowledgeBase = (kbId: string, { purge }: { purge: boolean }) =>
  call("delete", ONE, { path: { kb_id: kbId }, query: { purge }, timeout: 120 });

export const listMembers = (kbId: string, query: Query<`${typeof ONE}/members`>, signal?: AbortSignal) =>
  call("get", `${ONE}/members`, { path: { kb_id: kbId }, query, signal });

/** Somebody of one's organization by the whole address; `NotFound` when nobody there has it. */
export const findColleague = (kbId: string, email: string, signal?: AbortSignal) =>
  call("get", `${ONE}/colleague`, { path: { kb_id: kbId }, query: { email }, signal });

export const setMember = (kbId: string, userId: string, role: Role) => call("put", MEMBER, { path: { kb_id: kbId, user_id: userId }, body: { role } });

export const removeMember = (kbId: string, userId: string) => call("delete", MEMBER, { path: { kb_id: kbId, user_id: userId } });
