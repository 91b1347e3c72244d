import type { NextConfig } from "next";

const config: NextConfig = {
  output: "export",
  reactStrictMode: true,
  poweredByHeader: false,
  // Names and pages come from our own server already sized; there is no server here that could resize pictures.
  images: { unoptimized: true },
  // The same sources give the same file names, so that a rebuilt page finds its old assets in the browser's cache.
  generateBuildId: () => "muniment",
};

export default config;
