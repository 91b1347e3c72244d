/** The server, as functions. Components import from here and never call `fetch`. */
export * from "./audit";
export * from "./contents";
export * from "./documents";
export * from "./errors";
export { keys } from "./keys";
export * from "./knowledge-bases";
export * from "./operations";
export * from "./people";
export * from "./search";
export * from "./session";
export type * from "./types";
export * from "./uploads";
