/** Our own icons: 16 px, one stroke of 1.5. Beside a word they say nothing to a screen reader. */
import type { ReactNode, SVGProps } from "react";

const SHAPES = {
  alert: <path d="M8 2.2 14.2 13H1.8zM8 6.6v3M8 11.2v.1" />,
  ask: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M6.3 6.3c.2-1 .9-1.5 1.8-1.5 1 0 1.8.7 1.8 1.6 0 1.3-1.8 1.4-1.8 2.7M8.1 11.2v.1" />
    </>
  ),
  bookmark: <path d="M4 2.2h8v11.6l-4-3-4 3z" />,
  box: <path d="M2 3h12v3H2zM3 6v6.6c0 .5.4.9.9.9h8.2c.5 0 .9-.4.9-.9V6M6.3 8.7h3.4" />,
  calendar: <path d="M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v2.5M10.5 2v2.5" />,
  check: <path d="m3 8.4 3.2 3.2L13 4.6" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  copy: <path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />,
  document: <path d="M4 1.8h5.2L12.5 5v8.4c0 .4-.4.8-.8.8H4.3c-.4 0-.8-.4-.8-.8V2.3c0-.3.2-.5.5-.5zM9 2v3.2h3.3" />,
  down: <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />,
  download: <path d="M8 2.5v8M4.8 7.4 8 10.6l3.2-3.2M2.5 11v1.7c0 .5.4.8.8.8h9.4c.4 0 .8-.3.8-.8V11" />,
  edit: <path d="m3 13 .6-2.8L10.8 3l2.2 2.2-7.2 7.2zM9.3 4.5l2.2 2.2" />,
  filter: <path d="M2.5 4h11M4.5 8h7M6.5 12h3" />,
  folder: <path d="M2.2 4.2c0-.5.4-.9.9-.9h3l1.3 1.5h5.5c.5 0 .9.4.9.9v6.4c0 .5-.4.9-.9.9H3.1c-.5 0-.9-.4-.9-.9z" />,
  gauge: (
    <>
      <path d="M2.6 12a6 6 0 1 1 10.8 0M8 9.2l2.6-3.4" />
      <circle cx="8" cy="9.6" r=".9" />
    </>
  ),
  key: (
    <>
      <circle cx="5" cy="10.5" r="2.8" />
      <path d="m7 8.5 6-6M10.5 5l2 2" />
    </>
  ),
  leave: <path d="M6.5 3H3.3c-.4 0-.8.3-.8.8v8.4c0 .5.4.8.8.8h3.2M10 5l3 3-3 3M13 8H6" />,
  ledger: <path d="M3.2 2h8.6c.6 0 1 .4 1 1v10c0 .6-.4 1-1 1H3.2zM5.5 2v12M7.8 5.4h2.8M7.8 8h2.8" />,
  left: <path d="M9.8 4.5 6.3 8l3.5 3.5" />,
  link: <path d="M9.5 2.8h3.7v3.7M13 3 7.6 8.4M11.5 9.5v3.2c0 .4-.3.7-.7.7H3.5c-.4 0-.7-.3-.7-.7V5.4c0-.4.3-.7.7-.7h3.2" />,
  lock: <path d="M3.8 7h8.4v6.2H3.8zM5.5 7V5a2.5 2.5 0 0 1 5 0v2" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  minus: <path d="M3 8h10" />,
  moon: <path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z" />,
  more: (
    <g fill="currentColor" stroke="none">
      <circle cx="3.5" cy="8" r="1.2" />
      <circle cx="8" cy="8" r="1.2" />
      <circle cx="12.5" cy="8" r="1.2" />
    </g>
  ),
  note: <path d="M2.5 3h11v7.5H8L5 13.3v-2.8H2.5z" />,
  offline: (
    <path d="M2 2l12 12M4.7 8.3a4.7 4.7 0 0 1 2-1.1M2.3 5.8a8.3 8.3 0 0 1 2.3-1.5M7.4 3.7a8.3 8.3 0 0 1 6.3 2.1M9.6 7.3a4.7 4.7 0 0 1 1.7 1M8 11.7v.1" />
  ),
  open: <path d="M3 8h9.5M8.7 4.2 12.5 8l-3.8 3.8" />,
  panel: <path d="M2.5 3h11v10h-11zM9.8 3v10" />,
  people: (
    <>
      <circle cx="6" cy="5.4" r="2.3" />
      <path d="M1.8 13c.3-2.4 2-3.8 4.2-3.8s3.9 1.4 4.2 3.8M10.4 3.3a2.3 2.3 0 0 1 0 4.2M12 9.7c1.2.6 2 1.7 2.2 3.3" />
    </>
  ),
  person: (
    <>
      <circle cx="8" cy="5.2" r="2.6" />
      <path d="M2.8 13.5c.4-2.8 2.5-4.3 5.2-4.3s4.8 1.5 5.2 4.3" />
    </>
  ),
  plus: <path d="M8 3v10M3 8h10" />,
  replace: <path d="M2.5 6.5h8.7M8.7 3.7l2.8 2.8-2.8 2.8M13.5 10.5H5" />,
  restore: <path d="M2 3h12v3H2zM3 6v6.6c0 .5.4.9.9.9h8.2c.5 0 .9-.4.9-.9V6M8 11.7V8M6.2 9.6 8 7.8l1.8 1.8" />,
  retry: <path d="M13 8a5 5 0 1 1-1.7-3.7L13 5.8M13 2.6v3.2H9.8" />,
  right: <path d="M6.2 4.5 9.7 8l-3.5 3.5" />,
  running: (
    <>
      <path d="M8 2.5A5.5 5.5 0 1 1 2.5 8" />
      <circle cx="8" cy="8" r="1.1" fill="currentColor" stroke="none" />
    </>
  ),
  seal: (
    <>
      <path d="m8 1.8 1.5 1.3 2-.2.6 1.9 1.7 1-.7 1.9.7 1.9-1.7 1-.6 1.9-2-.2L8 13.6l-1.5-1.3-2 .2-.6-1.9-1.7-1 .7-1.9-.7-1.9 1.7-1 .6-1.9 2 .2z" />
      <path d="m5.9 7.8 1.5 1.5 2.7-2.9" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.25" />
      <path d="m10.3 10.3 3.2 3.2" />
    </>
  ),
  sort: <path d="M8 3v10M4.8 9.8 8 13l3.2-3.2" />,
  stop: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="m5.8 5.8 4.4 4.4M10.2 5.8l-4.4 4.4" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.5v1.7M8 12.8v1.7M1.5 8h1.7M12.8 8h1.7M3.4 3.4l1.2 1.2M11.4 11.4l1.2 1.2M12.6 3.4l-1.2 1.2M4.6 11.4l-1.2 1.2" />
    </>
  ),
  trash: <path d="M2.8 4.2h10.4M6 4V2.6h4V4M4 4.2l.6 8.6c0 .4.4.7.8.7h5.2c.4 0 .8-.3.8-.7l.6-8.6M6.7 6.8v4M9.3 6.8v4" />,
  undo: <path d="M5.6 3 2.6 6l3 3M2.8 6h6.4a4 4 0 0 1 0 8H6.5" />,
  up: <path d="M4.5 9.5 8 6l3.5 3.5" />,
  upload: <path d="M8 10.5v-8M4.8 5.6 8 2.4l3.2 3.2M2.5 10.5v2.2c0 .5.4.8.8.8h9.4c.4 0 .8-.3.8-.8v-2.2" />,
  waiting: <circle cx="8" cy="8" r="5.5" strokeDasharray="2.1 2.22" />,
  zoom: (
    <>
      <circle cx="7" cy="7" r="4.25" />
      <path d="m10.3 10.3 3.2 3.2M5.2 7h3.6M7 5.2v3.6" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, size = 16, ...rest }: { name: IconName; size?: number } & SVGProps<SVGSVGElement>) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      focusable="false"
      {...rest}
      className={`shrink-0 ${rest.className ?? ""}`}
    >
      {SHAPES[name]}
    </svg>
  );
}
