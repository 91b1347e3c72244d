import { describe, expect, it } from "vitest";

import type { Me, User } from "@/lib/api";

import { actsOn, rightsOf } from "./person-acts";

const user = (given: Partial<User> = {}): User => ({ id: "u-1", is_active: true, is_admin: false, is_operator: false, ...given }) as User;
const me = (given: Partial<Me>): Me => ({ id: "me", is_admin: false, is_operator: false, ...given }) as Me;

describe("what may be done with an account", () => {
  it("is for an admin: the admin right, the password, the sign-in", () => {
    expect(actsOn(user(), me({ is_admin: true }))).toEqual(["makeAdmin", "password", "deactivate"]);
    expect(actsOn(user({ is_admin: true, is_active: false }), me({ is_admin: true }))).toEqual(["takeAdmin", "password", "activate"]);
  });

  it("is nothing for an admin with an operator's account", () => {
    expect(actsOn(user({ is_operator: true }), me({ is_admin: true }))).toEqual([]);
  });

  it("is also the operator's right for an operator", () => {
    expect(actsOn(user({ is_operator: true }), me({ is_operator: true }))).toEqual(["makeAdmin", "takeOperator", "password", "deactivate"]);
  });

  it("is nothing with one's own", () => {
    expect(actsOn(user({ id: "me" }), me({ is_admin: true, is_operator: true }))).toEqual([]);
  });

  it("is told by the rights they have", () => {
    expect(rightsOf(user())).toEqual(["User"]);
    expect(rightsOf(user({ is_admin: true, is_operator: true }))).toEqual(["Admin", "Operator"]);
  });
});
