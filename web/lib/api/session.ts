/** Signing in and out, one's own password and API tokens. */
import { call } from "./client";

const AUTH = "/api/v1/auth";

export const getMe = (signal?: AbortSignal) => call("get", `${AUTH}/me`, { signal });

/** `organizationId` chooses one of the organizations that `SeveralOrganizations` listed. */
export const signIn = (email: string, password: string, organizationId?: string) =>
  call("post", `${AUTH}/login`, { body: { email, password, organization_id: organizationId ?? null } });

/** Spend the one-time link that the server prints when it is started for the first time. */
export const redeemLink = (token: string) => call("post", `${AUTH}/redeem`, { body: { token } });

export const signOut = () => call("post", `${AUTH}/logout`, {});

export const changePassword = (next: string, current?: string, revokeTokens = true) =>
  call("put", `${AUTH}/password`, { body: { new_password: next, current_password: current ?? null, revoke_tokens: revokeTokens } });

export const listTokens = (query: { page?: number; limit?: number }, signal?: AbortSignal) => call("get", `${AUTH}/tokens`, { query, signal });

export const createToken = (name: string, expiresInDays: number) => call("post", `${AUTH}/tokens`, { body: { name, expires_in_days: expiresInDays } });

export const revokeToken = (tokenId: string) => call("delete", `${AUTH}/tokens/{token_id}`, { path: { token_id: tokenId } });
