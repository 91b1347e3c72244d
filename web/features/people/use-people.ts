"use client";

import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { changeUser, createOrganization, createUser, keys, listOrganizations, listUsers, renameOrganization, type NewUser, type UserChange } from "@/lib/api";

import { LIMIT, type PeopleState } from "./people-view";

const MOST = { limit: 100 };

export function usePeople({ q, organization, page }: PeopleState) {
  const query = { page, limit: LIMIT, ...(q ? { search: q } : {}), ...(organization ? { organization_id: organization } : {}) };
  return useQuery({ queryKey: keys.users(query), queryFn: ({ signal }) => listUsers(query, signal), placeholderData: keepPreviousData });
}

/** For the picker and for names; only operators may ask. */
export function useOrganizations(isOn: boolean) {
  return useQuery({
    queryKey: keys.organizations(MOST),
    queryFn: ({ signal }) => listOrganizations(MOST, signal),
    enabled: isOn,
    placeholderData: keepPreviousData,
  });
}

export function useOrganizationPage(page: number) {
  const query = { page, limit: LIMIT };
  return useQuery({ queryKey: keys.organizations(query), queryFn: ({ signal }) => listOrganizations(query, signal), placeholderData: keepPreviousData });
}

/** Every change of people and organizations; the lists are asked anew after each, successful or not. */
export function usePeopleChanges() {
  const client = useQueryClient();
  const onSettled = () => {
    for (const queryKey of [keys.users(), keys.organizations(), keys.me]) void client.invalidateQueries({ queryKey });
  };
  return {
    create: useMutation({ mutationFn: (user: NewUser) => createUser(user), onSettled }),
    change: useMutation({ mutationFn: ({ id, change }: { id: string; change: UserChange }) => changeUser(id, change), onSettled }),
    createOrganization: useMutation({ mutationFn: (name: string) => createOrganization(name), onSettled }),
    renameOrganization: useMutation({ mutationFn: ({ id, name }: { id: string; name: string }) => renameOrganization(id, name), onSettled }),
  };
}
