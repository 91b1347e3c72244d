export const knowledgeBases = {
  title: "Knowledge bases",
} as const;
