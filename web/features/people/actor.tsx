"use client";

import { people as t } from "@/text";

import { shortId, useNames } from "./use-names";

/** Who did it: an e-mail, Muniment itself, or the ends of an id where one may know no more. */
export function Actor({ id }: { id: string }) {
  const names = useNames();
  const name = id === "system" ? t.system : names.get(id);
  return name ? (
    <bdi title={name}>{name}</bdi>
  ) : (
    <span title={id} className="font-proof text-12">
      {shortId(id)}
    </span>
  );
}
