/** What the address of the people's page holds. */
import { defineView, identifier, integer, oneOf, text } from "@/lib/url-state";

export const peopleView = defineView({
  tab: oneOf(["people", "organizations"], "people"),
  q: text(),
  organization: identifier(),
  page: integer(1),
});

export type PeopleState = typeof peopleView.initial;

export const LIMIT = 20;
