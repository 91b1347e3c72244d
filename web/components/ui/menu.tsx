"use client";

import * as Radix from "@radix-ui/react-dropdown-menu";
import Link from "next/link";
import type { ReactElement, ReactNode } from "react";

import { classNames } from "./class-names";
import { Icon, type IconName } from "./icons";

const ITEM =
  "flex min-h-8 cursor-pointer items-center gap-2.5 rounded-control px-2 py-1 text-13 no-underline outline-none select-none coarse:min-h-11 " +
  "data-[highlighted]:bg-petrol-soft aria-disabled:cursor-not-allowed aria-disabled:text-ink-3";

export interface MenuProps {
  trigger: ReactElement;
  children: ReactNode;
  align?: "start" | "center" | "end";
  side?: "top" | "right" | "bottom" | "left";
  isOpen?: boolean;
  onOpenChange?: (open: boolean) => void;
  width?: number;
}

export function Menu({ trigger, children, align = "end", side = "bottom", isOpen, onOpenChange, width = 236 }: MenuProps) {
  return (
    <Radix.Root {...(isOpen === undefined ? {} : { open: isOpen })} {...(onOpenChange ? { onOpenChange } : {})} modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          style={{ minWidth: width }}
          className="z-[60] max-h-(--radix-dropdown-menu-content-available-height) max-w-[min(360px,calc(100vw-16px))] animate-rise overflow-auto rounded-sheet border border-line-2 bg-raised p-[5px] text-ink shadow-2"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface Item {
  icon?: IconName;
  /** The key that does the same, at the right. */
  shortcut?: string;
  isWax?: boolean;
  children: ReactNode;
}

/** `isOff` items keep their place and can be focused, so that their reason (`aria-describedby`) is heard. */
export function MenuItem({
  icon,
  shortcut,
  isWax = false,
  isOff = false,
  describedBy,
  onSelect,
  children,
}: Item & { onSelect: () => void; isOff?: boolean; describedBy?: string | undefined }) {
  return (
    <Radix.Item
      aria-disabled={isOff || undefined}
      aria-describedby={describedBy}
      onSelect={(event) => (isOff ? event.preventDefault() : onSelect())}
      className={classNames(ITEM, isWax && !isOff && "text-wax")}
    >
      <Inside icon={icon} shortcut={shortcut} isWax={isWax && !isOff}>
        {children}
      </Inside>
    </Radix.Item>
  );
}

/** `isPlain` for what is no page of ours: a file to save, the API's reference. */
export function MenuLink({ icon, shortcut, href, children, isPlain = false }: Item & { href: string; isPlain?: boolean }) {
  const inside = (
    <Inside icon={icon} shortcut={shortcut}>
      {children}
    </Inside>
  );
  return (
    <Radix.Item asChild className={classNames(ITEM, "text-ink")}>
      {isPlain ? <a href={href}>{inside}</a> : <Link href={href}>{inside}</Link>}
    </Radix.Item>
  );
}

function Inside({ icon, shortcut, isWax = false, children }: { icon: IconName | undefined; shortcut: string | undefined; isWax?: boolean; children: ReactNode }) {
  return (
    <>
      {icon && <Icon name={icon} className={isWax ? "" : "text-ink-3"} />}
      <span className="min-w-0 flex-1">{children}</span>
      {shortcut && <kbd className="border-0 bg-transparent p-0 coarse:hidden">{shortcut}</kbd>}
    </>
  );
}

/** One of several. */
export function MenuChoices<Value extends string>({
  value,
  choices,
  onChoose,
}: {
  value: Value;
  choices: readonly { value: Value; label: ReactNode }[];
  onChoose: (value: Value) => void;
}) {
  return (
    <Radix.RadioGroup value={value} onValueChange={(chosen) => onChoose(chosen as Value)}>
      {choices.map((choice) => (
        <Radix.RadioItem key={choice.value} value={choice.value} className={ITEM}>
          <span className="grid size-4 place-items-center">
            <Radix.ItemIndicator>
              <Icon name="check" className="text-petrol" />
            </Radix.ItemIndicator>
          </span>
          <span className="min-w-0 flex-1">{choice.label}</span>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

export function MenuCheck({ isOn, onToggle, children }: { isOn: boolean; onToggle: (on: boolean) => void; children: ReactNode }) {
  return (
    <Radix.CheckboxItem checked={isOn} onCheckedChange={onToggle} onSelect={(event) => event.preventDefault()} className={ITEM}>
      <span className={classNames("checkbox", "pointer-events-none")} data-on={isOn || undefined} aria-hidden="true" />
      <span className="min-w-0 flex-1">{children}</span>
    </Radix.CheckboxItem>
  );
}

export const MenuLine = () => <Radix.Separator className="mx-[3px] my-[5px] border-t border-line" />;

/** A sentence among the items: a reason, a caption. */
export function MenuNote({ id, icon, children }: { id?: string; icon?: IconName; children: ReactNode }) {
  return (
    <div id={id} className="flex items-center gap-2.5 px-2 pt-1.5 pb-1 text-12 text-ink-3">
      {icon && <Icon name={icon} size={14} className="mx-px" />}
      {children}
    </div>
  );
}
