/** Users and organizations: admins see their own organization, operators everybody. */
import { call, type Query } from "./client";
import type { UserChange } from "./types";

export const listUsers = (query: Query<"/api/v1/users">, signal?: AbortSignal) => call("get", "/api/v1/users", { query, signal });

export interface NewUser {
  email: string;
  password: string;
  organization_id?: string | null;
  is_admin: boolean;
  is_operator: boolean;
}

export const createUser = (user: NewUser) => call("post", "/api/v1/users", { body: user });

export const changeUser = (userId: string, change: UserChange) => call("patch", "/api/v1/users/{user_id}", { path: { user_id: userId }, body: change });

export const listOrganizations = (query: Query<"/api/v1/organizations">, signal?: AbortSignal) => call("get", "/api/v1/organizations", { query, signal });

/** For admins of the organization, and for operators. */
export const getUsage = (organizationId: string, signal?: AbortSignal) =>
  call("get", "/api/v1/organizations/{organization_id}/usage", { path: { organization_id: organizationId }, signal });

export const createOrganization = (name: string) => call("post", "/api/v1/organizations", { body: { name } });

export const renameOrganization = (organizationId: string, name: string) =>
  call("patch", "/api/v1/organizations/{organization_id}", { path: { organization_id: organizationId }, body: { name } });
