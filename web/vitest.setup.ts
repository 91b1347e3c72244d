/** What a page fetches late is there from the start: a test looks at what is shown, not at when its code came. */
import { preloadDeferred } from "./components/ui/deferred";
import "./components/ui/dialog";
import "./components/ui/menu";

await preloadDeferred();
