/** The second line of an error: the way out. The first one is the server's own. */
export const errors = {
  unreachable: "The server cannot be reached. Check the connection; this page goes on by itself.",
  timedOut: "The server does not answer. Try again in a moment.",
  unavailable: "A part of the server does not answer right now. Try again in a moment.",
  tooMany: (seconds: number) => `Too many requests. Try again in ${seconds} s.`,
  lateCode: "A part of the page could not be fetched. It may have been renewed on the server.",
  failed: "Something went wrong on the server.",
  storageFull: "There is no room left on the server. Tell your operator.",
} as const;
