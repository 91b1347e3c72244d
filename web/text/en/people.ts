export const people = {
  title: "People",
  system: "Muniment",
} as const;
