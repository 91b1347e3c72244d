/**
 * All English texts of the page; components hold none. A second language is a second folder with the same shape and a
 * choice here. Re-exported one by one, so that a page loads only the words it uses.
 */
export { account } from "./en/account";
export { archive } from "./en/archive";
export { audit } from "./en/audit";
export { common } from "./en/common";
export { document } from "./en/document";
export { documents } from "./en/documents";
export { duplicate } from "./en/duplicate";
export { errors } from "./en/errors";
export { knowledgeBases } from "./en/knowledge-bases";
export { operations } from "./en/operations";
export { palette } from "./en/palette";
export { people } from "./en/people";
export { search } from "./en/search";
export { shell } from "./en/shell";
export { signIn } from "./en/sign-in";
export { upload } from "./en/upload";
export { welcome } from "./en/welcome";
