export const archive = {
  title: "Archive",
} as const;
