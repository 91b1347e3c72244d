export const duplicate = {} as const;
