"use client";

import Link from "next/link";
import type { ReactNode } from "react";

import { classNames } from "./class-names";
import { Icon, type IconName } from "./icons";
import { useOpenMenu } from "./menu-parts";

const ITEM =
  "flex min-h-8 cursor-pointer items-center gap-2.5 rounded-control px-2 py-1 text-13 no-underline outline-none select-none coarse:min-h-11 " +
  "data-[highlighted]:bg-petrol-soft aria-disabled:cursor-not-allowed aria-disabled:text-ink-3";

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
  const { parts, goHome } = useOpenMenu();
  return (
    <parts.Item
      aria-disabled={isOff || undefined}
      aria-describedby={describedBy}
      onSelect={(event) => {
        if (isOff) return event.preventDefault();
        // First: a dialog that this opens remembers who had the focus, and gives it back to them.
        goHome();
        onSelect();
      }}
      className={classNames(ITEM, isWax && !isOff && "text-wax")}
    >
      <Inside icon={icon} shortcut={shortcut} isWax={isWax && !isOff}>
        {children}
      </Inside>
    </parts.Item>
  );
}

/** `isPlain` for what is no page of ours: a file to save, the API's reference. */
export function MenuLink({ icon, shortcut, href, children, isPlain = false }: Item & { href: string; isPlain?: boolean }) {
  const { parts } = useOpenMenu();
  const inside = (
    <Inside icon={icon} shortcut={shortcut}>
      {children}
    </Inside>
  );
  return (
    <parts.Item asChild className={classNames(ITEM, "text-ink")}>
      {isPlain ? <a href={href}>{inside}</a> : <Link href={href}>{inside}</Link>}
    </parts.Item>
  );
}

interface InsideProps {
  icon: IconName | undefined;
  shortcut: string | undefined;
  isWax?: boolean;
  children: ReactNode;
}

function Inside({ icon, shortcut, isWax = false, children }: InsideProps) {
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
  const { parts } = useOpenMenu();
  return (
    <parts.RadioGroup value={value} onValueChange={(chosen) => onChoose(chosen as Value)}>
      {choices.map((choice) => (
        <parts.RadioItem key={choice.value} value={choice.value} className={ITEM}>
          <span className="grid size-4 place-items-center">
            <parts.ItemIndicator>
              <Icon name="check" className="text-petrol" />
            </parts.ItemIndicator>
          </span>
          <span className="min-w-0 flex-1">{choice.label}</span>
        </parts.RadioItem>
      ))}
    </parts.RadioGroup>
  );
}

/** One that is on or off; the menu stays open, for there may be more to choose. */
export function MenuCheck({ isOn, onToggle, children }: { isOn: boolean; onToggle: (on: boolean) => void; children: ReactNode }) {
  const { parts } = useOpenMenu();
  return (
    <parts.CheckboxItem checked={isOn} onCheckedChange={onToggle} onSelect={(event) => event.preventDefault()} className={ITEM}>
      <span className="checkbox pointer-events-none" data-on={isOn || undefined} aria-hidden="true" />
      <span className="min-w-0 flex-1">{children}</span>
    </parts.CheckboxItem>
  );
}

export function MenuLine() {
  const { parts } = useOpenMenu();
  return <parts.Separator className="mx-[3px] my-[5px] border-t border-line" />;
}

/** A sentence among the items: a reason, a caption. */
export function MenuNote({ id, icon, children }: { id?: string; icon?: IconName; children: ReactNode }) {
  return (
    <div id={id} className="flex items-center gap-2.5 px-2 pt-1.5 pb-1 text-12 text-ink-3">
      {icon && <Icon name={icon} size={14} className="mx-px" />}
      {children}
    </div>
  );
}
