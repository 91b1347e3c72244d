/** The second line of an error: what to do. The first line is the server's message. */
export const errors = {
  unreachable: "Cannot reach the server. Check your connection. This page reconnects automatically.",
  timedOut: "The server did not respond. Try again in a moment.",
  unavailable: "Part of the service is temporarily unavailable. Try again in a moment.",
  tooMany: (seconds: number) => `Too many requests. Try again in ${seconds} s.`,
  lateCode: "Part of this page could not be loaded. Muniment may have been updated. Reload the page.",
  failed: "Something went wrong on the server.",
  storageFull: "The server is out of storage space. Contact your operator.",
} as const;
