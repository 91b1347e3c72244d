import type { ReactNode } from "react";

/**
 * A sentence of the catalogue with a name in it: `withName("Archive '{name}'?", name)`. The name keeps its own direction
 * and cannot turn the words around it; as plain text the sentence is exactly that of the catalogue.
 */
export function withName(sentence: string, name: string): ReactNode {
  const [before, ...after] = sentence.split("{name}");
  return after.length === 0 ? (
    before
  ) : (
    <>
      {before}
      <bdi>{name}</bdi>
      {after.join("{name}")}
    </>
  );
}
