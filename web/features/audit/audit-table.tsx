"use client";

import { Actor } from "@/features/people/actor";
import { useNameOf } from "@/features/people/use-names";
import type { AuditEvent } from "@/lib/api";
import { formatCount, formatExactTime } from "@/lib/format";
import { audit as t } from "@/text";

import { objectOf, verbOf } from "./event-words";

/** Line by line: exactly when, what, who, to what, and its number in the chain. */
export function AuditTable({ events, onOpen }: { events: readonly AuditEvent[]; onOpen: (event: AuditEvent) => void }) {
  const c = t.columns;
  return (
    <table className="register">
      <colgroup>
        <col className="w-[212px]" />
        <col className="w-[190px]" />
        <col />
        <col className="w-[24%]" data-from="lg" />
        <col className="w-[124px]" />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">{c.at}</th>
          <th scope="col">{c.verb}</th>
          <th scope="col">{c.what}</th>
          <th scope="col" data-from="lg">
            {c.who}
          </th>
          <th scope="col" data-align="end">
            {c.seal}
          </th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <Line key={event.id} event={event} onOpen={onOpen} />
        ))}
      </tbody>
    </table>
  );
}

function Line({ event, onOpen }: { event: AuditEvent; onOpen: (event: AuditEvent) => void }) {
  const nameOf = useNameOf();
  const verb = verbOf(event.action);
  const what = objectOf(event, nameOf);
  return (
    <tr role="row" data-action={event.action}>
      <td role="cell" data-cell="fact">
        <time dateTime={event.at}>{formatExactTime(new Date(event.at))}</time>
      </td>
      <td role="cell" data-cell="name">
        <button
          type="button"
          aria-label={t.details([verb, what].filter(Boolean).join(" "))}
          onClick={() => onOpen(event)}
          className="min-h-6 max-w-full truncate rounded-mark text-left font-medium underline decoration-petrol-line underline-offset-[3px] hover:decoration-current"
        >
          {verb}
        </button>
      </td>
      <td role="cell" data-cell="status" className="text-ink!" title={what}>
        <bdi>{what}</bdi>
      </td>
      <td role="cell" data-from="lg">
        <Actor id={event.actor} />
      </td>
      <td role="cell" data-cell="fact-2" data-align="end">
        {event.seq === null ? <span className="text-ink-3">{t.notSealed}</span> : <span className="font-proof text-12">{t.seal(formatCount(event.seq))}</span>}
      </td>
    </tr>
  );
}
