"use client";

import { useState } from "react";

import { classNames } from "@/components/ui/class-names";
import { sentencesOf } from "@/components/ui/error-sentences";
import { Icon } from "@/components/ui/icons";
import { Menu, MenuChoices, MenuItem, MenuLine, MenuNote } from "@/components/ui/menu";
import { showToast } from "@/components/ui/toast-store";
import { withName } from "@/components/ui/with-name";
import type { SavedSearch } from "@/lib/api";
import type { Change } from "@/lib/url-state";
import { common, search } from "@/text";

import { criteriaOf, isSameSearch, stateOf } from "./saved-criteria";
import { SavedSearchDialog } from "./saved-search-dialog";
import type { SearchState } from "./search-view";
import { useSavedSearchChanges, useSavedSearches } from "./use-saved-searches";

const t = search.saved;

/** A person's saved searches: open one, save the present one, and what can be done with the open one. */
export function SavedSearches({ state, change }: { state: SearchState; change: Change<SearchState> }) {
  const { data, isError } = useSavedSearches();
  const { save, alter, remove } = useSavedSearchChanges();
  const [asked, setAsked] = useState<{ renamed: SavedSearch | null } | null>(null);
  const saved = data?.items ?? [];
  const criteria = criteriaOf(state);
  const open = criteria ? saved.find(({ id }) => id === state.saved) : undefined;
  const isEdited = open !== undefined && !isSameSearch(stateOf(open), state);

  const refused = (error: unknown) => showToast({ text: sentencesOf(error).title, icon: "alert", tone: "alert" });
  const keep = ({ id, name }: SavedSearch) => {
    if (criteria)
      alter.mutate({ id, parameters: criteria }, { onSuccess: () => showToast({ text: withName(t.make.done, name), icon: "check" }), onError: refused });
  };
  const bringBack = ({ name, parameters }: SavedSearch) => {
    const again = criteriaOf(stateOf({ id: "", parameters }));
    if (again) save.mutate({ name, parameters: again }, { onSuccess: () => showToast({ text: withName(t.isBack, name), icon: "undo" }), onError: refused });
  };
  const drop = (one: SavedSearch) =>
    remove.mutate(one.id, {
      onSuccess: () => {
        change({ saved: "" }, { replace: true });
        showToast({ text: withName(t.deleted, one.name), icon: "trash", action: { label: common.undo, onSelect: () => bringBack(one) } });
      },
      onError: refused,
    });

  return (
    <>
      <Menu align="start" width={220} trigger={<Trigger open={open} isEdited={isEdited} />}>
        {saved.length > 0 ? (
          <MenuChoices
            value={open?.id ?? ""}
            choices={saved.map(({ id, name }) => ({ value: id, label: <bdi>{name}</bdi> }))}
            onChoose={(id) => {
              const chosen = saved.find((one) => one.id === id);
              if (chosen) change(stateOf(chosen));
            }}
          />
        ) : (
          <MenuNote>{isError ? t.failed : t.none}</MenuNote>
        )}
        {criteria && <MenuLine />}
        {open && isEdited && criteria && (
          <MenuItem icon="check" onSelect={() => keep(open)}>
            {common.save}
          </MenuItem>
        )}
        {criteria && (!open || isEdited) && (
          <MenuItem icon="plus" onSelect={() => setAsked({ renamed: null })}>
            {open ? t.saveAsNew : t.saveThis}
          </MenuItem>
        )}
        {open && isEdited && (
          <MenuItem icon="undo" onSelect={() => change(stateOf(open))}>
            {t.reset}
          </MenuItem>
        )}
        {open && (
          <>
            {isEdited && <MenuLine />}
            <MenuItem icon="edit" onSelect={() => setAsked({ renamed: open })}>
              {t.renameItem}
            </MenuItem>
            <MenuItem icon="trash" onSelect={() => drop(open)}>
              {t.deleteItem}
            </MenuItem>
          </>
        )}
      </Menu>
      {asked && criteria && (
        <SavedSearchDialog
          renamed={asked.renamed}
          criteria={criteria}
          onClose={() => setAsked(null)}
          onSaved={({ id }) => change({ saved: id }, { replace: true })}
        />
      )}
    </>
  );
}

function Trigger({ open, isEdited, ...rest }: { open: SavedSearch | undefined; isEdited: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={open ? t.opened(open.name, isEdited) : t.label}
      className={classNames(
        "inline-flex h-control max-w-full min-w-0 items-center gap-2 rounded-control border px-2.5 text-13 whitespace-nowrap",
        open ? "border-petrol bg-petrol-soft" : "border-line-2 bg-sheet hover:border-edge",
      )}
    >
      <Icon name="bookmark" className={open ? "text-petrol" : "text-ink-3"} />
      {open ? <bdi className="max-w-48 truncate">{open.name}</bdi> : <span>{t.label}</span>}
      {isEdited && <span className="text-ink-3">{t.edited}</span>}
      <Icon name="down" className="text-ink-3" />
    </button>
  );
}
