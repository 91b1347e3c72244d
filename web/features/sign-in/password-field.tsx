"use client";

import { useState } from "react";

import { Field } from "@/components/ui/field";
import { signIn as t } from "@/text";

/** A password, hidden until its owner wants to see it. */
export function PasswordField({
  label,
  value,
  onValue,
  ...rest
}: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  name: string;
  autoComplete: "current-password" | "new-password";
  hint?: string;
  error?: string | undefined;
  minLength?: number;
  autoFocus?: boolean;
}) {
  const [isShown, setShown] = useState(false);
  return (
    <Field
      {...rest}
      label={label}
      type={isShown ? "text" : "password"}
      required
      spellCheck={false}
      autoCapitalize="none"
      value={value}
      onChange={(event) => onValue(event.target.value)}
      after={
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)} className="-mr-1 min-h-7 rounded-mark px-1.5 text-13 coarse:min-h-11">
          {isShown ? t.hide : t.show}
          <span className="sr-only"> {label}</span>
        </button>
      }
    />
  );
}
