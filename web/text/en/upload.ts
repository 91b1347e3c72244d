export const upload = {
  title: "Coming in",
} as const;
