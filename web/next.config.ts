import type { NextConfig } from "next";

const config: NextConfig = {
  output: "export",
  reactStrictMode: true,
  poweredByHeader: false,
  // Names and pages come from our own server already sized; there is no server here that could resize pictures.
  images: { unoptimized: true },
  // Of the sources, by tools/web: a tab that was opened before the server was renewed sees another name in what it fetches,
  // and loads the page anew instead of joining old code to new.
  generateBuildId: () => process.env.MUNIMENT_WEB_BUILD ?? "unnamed",
};

export default config;
