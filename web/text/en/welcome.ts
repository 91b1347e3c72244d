/** The first minutes: three numbered steps from an empty room to the first found sentence. */
export const welcome = {
  title: "Welcome",
  subtitle: "Three short steps from an empty room to the first found sentence.",
  make: "Make a knowledge base",
  makeText: "A room for documents that belong together. You own it, and decide who else comes in.",
  made: "Knowledge base made",
  madeText: (name: string) => `'${name}' belongs to you.`,
  bring: "Bring in the first documents",
  bringText: "PDF, Word, PowerPoint, Excel, OpenDocument, e-mail, HTML, text and pictures. Drop files or a whole folder anywhere on the page.",
  find: "Find a sentence",
  findText: "As soon as the first page has been read, ask for a word or a meaning and open the page it stands on.",
  keys: { palette: "find or do anything", upload: "upload", help: "all keys" },
} as const;
