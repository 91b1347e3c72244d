/** Where the chosen theme is remembered. */
export const THEME = "muniment.theme";

/**
 * Runs before the first paint, as the page's one inline script of ours: a dark page must not flash white. It is text,
 * because it stands in the page as it is, and its hash in the page's Content-Security-Policy.
 */
export const THEME_SCRIPT = `(function(){var t=null;try{t=localStorage.getItem("${THEME}")}catch(e){}
document.documentElement.dataset.theme=t==="light"||t==="dark"?t:matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light"})()`;
