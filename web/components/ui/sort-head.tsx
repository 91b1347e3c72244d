"use client";

import type { ReactNode } from "react";

import { Icon } from "./icons";

/** A column head that sorts: once down, once up. `sort` is the API's word, with `-` in front for downwards. */
export function SortHead<Sort extends string>({
  field,
  sort,
  onSort,
  isDownFirst = false,
  children,
  ...rest
}: {
  field: string;
  sort: Sort;
  onSort: (sort: Sort) => void;
  /** Dates and sizes: the newest and largest first. */
  isDownFirst?: boolean;
  children: ReactNode;
} & Omit<React.ThHTMLAttributes<HTMLTableCellElement>, "onSort">) {
  const isDown = sort === `-${field}`;
  const isUp = sort === field;
  const next = isDown ? field : isUp ? `-${field}` : isDownFirst ? `-${field}` : field;
  return (
    <th scope="col" aria-sort={isDown ? "descending" : isUp ? "ascending" : undefined} {...rest}>
      <button type="button" onClick={() => onSort(next as Sort)}>
        {children}
        {(isDown || isUp) && <Icon name="sort" size={12} className={isUp ? "rotate-180" : ""} />}
      </button>
    </th>
  );
}
