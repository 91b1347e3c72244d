import Link from "next/link";
import type { ButtonHTMLAttributes, ComponentProps, ReactNode, Ref } from "react";

import { classNames } from "./class-names";
import { Icon, type IconName } from "./icons";
import { Tooltip } from "./tooltip";

export type ButtonKind = "plain" | "primary" | "wax" | "wax-outline" | "bare";
type Size = "normal" | "small" | "large";

const KINDS: Record<ButtonKind, string> = {
  plain: "border-line-2 bg-sheet text-ink hover:border-edge hover:bg-sunk",
  primary: "border-petrol-fill bg-petrol-fill font-semibold text-on-petrol hover:border-petrol-fill-2 hover:bg-petrol-fill-2",
  wax: "border-wax-fill bg-wax-fill font-semibold text-on-wax hover:border-wax-fill-2 hover:bg-wax-fill-2",
  "wax-outline": "border-wax-line bg-sheet text-wax hover:bg-wax-soft",
  bare: "border-transparent text-ink hover:bg-sunk",
};
const SIZES: Record<Size, string> = { normal: "h-control px-3", small: "h-7 px-2.5 coarse:h-control", large: "h-10 px-4 coarse:h-control" };
const OFF = "disabled:border-line disabled:bg-sunk disabled:text-ink-3 aria-disabled:border-line aria-disabled:bg-sunk aria-disabled:text-ink-3";

/** The look of a button, for links that act like one. */
export function buttonClass({ kind = "plain", size = "normal" }: { kind?: ButtonKind; size?: Size } = {}): string {
  return classNames(
    "inline-flex items-center justify-center gap-[7px] rounded-control border font-medium whitespace-nowrap no-underline transition-colors",
    size === "large" ? "text-14" : "text-13",
    KINDS[kind],
    SIZES[size],
    OFF,
  );
}

interface Common {
  kind?: ButtonKind;
  size?: Size;
  icon?: IconName;
  children?: ReactNode;
}

export type ButtonProps = Common &
  ButtonHTMLAttributes<HTMLButtonElement> & {
    /** The act is under way: it cannot be started twice, keeps its focus, and its words stay. */
    isBusy?: boolean;
    ref?: Ref<HTMLButtonElement>;
  };

export function Button({ kind = "plain", size = "normal", icon, isBusy = false, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={isBusy || rest["aria-disabled"]}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
      className={classNames(buttonClass({ kind, size }), rest.className)}
    >
      {icon && <Icon name={isBusy ? "running" : icon} className={isBusy ? "animate-turn" : ""} />}
      {children}
    </button>
  );
}

export function ButtonLink({ kind = "plain", size = "normal", icon, children, ...rest }: Common & ComponentProps<typeof Link>) {
  return (
    <Link {...rest} className={classNames(buttonClass({ kind, size }), rest.className)}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  );
}

/** An icon alone. The label is read aloud and shown on hover and focus. */
export function IconButton({
  label,
  icon,
  kind = "bare",
  size = "normal",
  tooltip = true,
  ...rest
}: Omit<ButtonProps, "children" | "icon"> & { label: string; icon: IconName; tooltip?: boolean }) {
  const button = (
    <button
      type="button"
      aria-label={label}
      {...rest}
      className={classNames(
        "inline-grid shrink-0 place-items-center rounded-control border transition-colors coarse:min-h-11 coarse:min-w-11",
        size === "small" ? "size-7" : "size-control",
        KINDS[kind],
        OFF,
        rest.className,
      )}
    >
      <Icon name={icon} />
    </button>
  );
  return tooltip ? <Tooltip label={label}>{button}</Tooltip> : button;
}
