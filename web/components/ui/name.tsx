import { splitName } from "@/lib/format";

import { classNames } from "./class-names";

/** A document's name: text, never HTML, with its own direction. Cut in the middle, so that number and extension stay. */
export function Name({ name, className }: { name: string; className?: string }) {
  const [head, tail] = splitName(name);
  return (
    <bdi title={name} className={classNames("flex max-w-full min-w-0 whitespace-pre", className)}>
      <span className="min-w-[2ch] overflow-hidden text-ellipsis">{head}</span>
      {tail && <span className="shrink-0">{tail}</span>}
    </bdi>
  );
}
