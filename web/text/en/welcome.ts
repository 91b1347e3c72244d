/** The first visit: three steps from an empty installation to the first search result. */
export const welcome = {
  title: "Welcome to Muniment",
  subtitle: "Three steps to your first search result.",
  make: "Create a knowledge base",
  makeText: "A place for documents that belong together. You own it and decide who has access.",
  made: "Knowledge base created",
  madeText: (name: string) => `You are the owner of '${name}'.`,
  bring: "Upload your first documents",
  bringText: "PDF, Word (DOCX), Excel (XLSX), PowerPoint (PPTX), ODT, RTF, email, HTML, Markdown, text and images. Drop files or a folder anywhere on this page.",
  find: "Search",
  findText: "As soon as a document is processed, search by keyword or meaning and open the matching page.",
  keys: { palette: "command palette", upload: "upload", help: "keyboard shortcuts" },
} as const;
