"use client";

import { Button } from "@/components/ui/button";
import { Icon } from "@/components/ui/icons";
import { Menu, MenuChoices, MenuItem, MenuLine, MenuNote } from "@/components/ui/menu";
import type { DocumentType } from "@/lib/api";
import { common, upload as t } from "@/text";

import type { Chooser } from "./chooser";
import { useUploadType } from "./use-uploads";

export const DOCUMENT_TYPES = Object.keys(common.documentTypes) as DocumentType[];

/** `Upload files`, and behind the arrow the folder and the type of what comes in. */
export function UploadButtons({ chooser }: { chooser: Chooser }) {
  const [type, setType] = useUploadType();
  const choices = DOCUMENT_TYPES.map((value) => ({ value, label: common.documentTypes[value] }));
  return (
    <span className="inline-flex">
      <Button kind="primary" icon="upload" className="rounded-r-none" onClick={chooser.chooseFiles}>
        {t.files}
        {type !== "other" && <span className="font-normal">{t.drop.as(common.documentTypes[type])}</span>}
      </Button>
      <Menu
        align="end"
        trigger={
          <button
            type="button"
            aria-label={t.options}
            className="-ml-px inline-grid h-control w-8 place-items-center rounded-r-control border border-petrol-fill border-l-on-petrol/40 bg-petrol-fill text-on-petrol hover:bg-petrol-fill-2 coarse:w-11"
          >
            <Icon name="down" />
          </button>
        }
      >
        <MenuItem icon="folder" onSelect={chooser.chooseFolder}>
          {t.folder}
        </MenuItem>
        <MenuLine />
        <MenuNote>{t.typeOf}</MenuNote>
        <MenuChoices value={type} choices={choices} onChoose={setType} />
      </Menu>
    </span>
  );
}
