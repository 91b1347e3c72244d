/** Above this nobody waits for a hash: the size, the name and the person have to do. */
const LARGEST = 256 * 1024 * 1024;

/**
 * The file's SHA-256 as the server writes it. Null where the browser has no such function (a page that came by plain
 * HTTP from another machine), for a file that is too large to hold in memory, and for one that is gone from the disk.
 */
export async function digest(file: File): Promise<string | null> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (!subtle || file.size > LARGEST) return null;
  try {
    const hash = new Uint8Array(await subtle.digest("SHA-256", await file.arrayBuffer()));
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  } catch {
    return null;
  }
}
