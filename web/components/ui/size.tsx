import { formatSize } from "@/lib/format";

/** A size in units people use; the bytes on hover. */
export function Size({ bytes, className }: { bytes: number; className?: string }) {
  return (
    <span title={`${bytes.toLocaleString("en-GB")} bytes`} className={className}>
      {formatSize(bytes)}
    </span>
  );
}
