"use client";

import { useId, type InputHTMLAttributes, type ReactNode, type Ref, type TextareaHTMLAttributes } from "react";

import { classNames } from "./class-names";
import { Icon, type IconName } from "./icons";

const BOX =
  "flex min-w-0 items-center gap-2 rounded-control border border-edge bg-raised px-2.5 text-13 text-ink dark:bg-sunk " +
  "focus-within:border-focus focus-within:outline-2 focus-within:outline-offset-1 focus-within:outline-focus " +
  "has-[:disabled]:border-line has-[:disabled]:bg-sunk has-[:disabled]:text-ink-3 " +
  "has-[[aria-invalid=true]]:border-wax";
// 16 px on touch: a smaller one makes the phone zoom in.
const INPUT = "w-full min-w-0 bg-transparent outline-none coarse:text-16";

type Given = Omit<InputHTMLAttributes<HTMLInputElement>, "size"> & { ref?: Ref<HTMLInputElement> };

/** A line to type in, without a label of its own: give `aria-label`, or use `Field`. */
export function Input({ icon, after, boxClass, ...rest }: Given & { icon?: IconName; after?: ReactNode; boxClass?: string }) {
  return (
    <span className={classNames(BOX, "h-control", boxClass)}>
      {icon && <Icon name={icon} className="text-ink-3" />}
      <input {...rest} className={classNames(INPUT, rest.className)} />
      {after}
    </span>
  );
}

interface Around {
  label: ReactNode;
  hint?: ReactNode;
  /** What is wrong with it; read aloud together with the field. */
  error?: ReactNode;
}

export function Field({ label, hint, error, after, boxClass, ...rest }: Given & Around & { after?: ReactNode; boxClass?: string }) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <Input
        {...rest}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={hint || error ? `${id}-hint` : undefined}
        after={after}
        boxClass={classNames("min-h-[38px] text-14", boxClass)}
      />
    </Labelled>
  );
}

export function TextArea({ label, hint, error, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement> & Around) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <span className={classNames(BOX, "py-2 text-14")}>
        <textarea
          rows={3}
          {...rest}
          id={id}
          aria-invalid={error ? true : undefined}
          aria-describedby={hint || error ? `${id}-hint` : undefined}
          className={classNames(INPUT, "resize-y")}
        />
      </span>
    </Labelled>
  );
}

/** Label above, hint or error below. */
export function Labelled({ id, label, hint, error, children }: Around & { id: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1.5 block text-13 font-semibold text-ink">
        {label}
      </label>
      {children}
      {(error || hint) && (
        <p id={`${id}-hint`} className={classNames("mt-1.5 text-12", error ? "text-wax" : "text-ink-3")}>
          {error || hint}
        </p>
      )}
    </div>
  );
}
