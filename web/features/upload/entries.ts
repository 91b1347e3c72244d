/** What was dropped: files, and folders with all that is in them. */

/** What systems and programs leave in folders, and nobody means to bring in. */
const LITTER = /^(\.DS_Store|Thumbs\.db|ehthumbs\.db|desktop\.ini|\.directory|\._.*|~\$.*|\.~lock\..*#|\.localized|Icon\r)$/i;
const LITTER_FOLDERS = /^(__MACOSX|@eaDir|\$RECYCLE\.BIN|System Volume Information|\.git|\.svn|\.Trashes|\.Spotlight-V100|\.fseventsd)$/i;

export interface Dropped {
  files: File[];
  /** Entries that could not be opened. */
  unreadable: number;
}

export const isLitter = (name: string): boolean => LITTER.test(name);

/** Of a folder that was chosen: `webkitRelativePath` names the folders it lay in. */
export function withoutLitter(files: Iterable<File>): File[] {
  return [...files].filter(
    (file) =>
      !isLitter(file.name) &&
      !file.webkitRelativePath
        .split("/")
        .slice(0, -1)
        .some((folder) => LITTER_FOLDERS.test(folder)),
  );
}

/** Has to be called before the event is over: the browser forgets the entries after it. */
export async function filesOf(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const dropped: Dropped = { files: [], unreadable: 0 };
  for (const entry of entries) {
    if (entry instanceof File) dropped.files.push(entry);
    else if (entry) await collect(entry, dropped);
  }
  return { ...dropped, files: dropped.files.filter((file) => !isLitter(file.name)) };
}

async function collect(entry: FileSystemEntry, into: Dropped): Promise<void> {
  try {
    if (entry.isFile) into.files.push(await fileOf(entry as FileSystemFileEntry));
    else if (entry.isDirectory && !LITTER_FOLDERS.test(entry.name)) {
      for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) await collect(child, into);
    }
  } catch {
    into.unreadable += 1;
  }
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> => new Promise((resolve, reject) => entry.file(resolve, reject));

/** A reader gives a hundred at a time, and nothing when there are no more. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found.sort((a, b) => a.name.localeCompare(b.name));
    found.push(...some);
  }
}
