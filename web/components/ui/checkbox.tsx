"use client";

import { useEffect, useRef, type InputHTMLAttributes, type ReactNode } from "react";

import { classNames } from "./class-names";

type Given = Omit<InputHTMLAttributes<HTMLInputElement>, "type">;

/** Without words beside it: give `aria-label`. `isMixed` stands for some of them. */
export function Checkbox({ isMixed = false, ...rest }: Given & { isMixed?: boolean }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = isMixed;
  }, [isMixed]);
  return <input {...rest} ref={box} type="checkbox" className={classNames("checkbox", rest.className)} />;
}

export function CheckboxField({ children, hint, ...rest }: Given & { children: ReactNode; hint?: ReactNode }) {
  return (
    <label className="flex min-h-6 items-start gap-2.5 text-14 coarse:min-h-11 coarse:items-center">
      <Checkbox {...rest} className="mt-0.5" />
      <span>
        {children}
        {hint && <span className="block text-12 text-ink-3">{hint}</span>}
      </span>
    </label>
  );
}
