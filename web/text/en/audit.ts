export const audit = {
  title: "Audit log",
} as const;
