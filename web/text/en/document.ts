export const document = {
  title: "Document",
} as const;
