import path from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@": path.resolve(import.meta.dirname) } },
  esbuild: { jsx: "automatic" },
  test: {
    environment: "jsdom",
    include: ["**/*.test.{ts,tsx}"],
    exclude: ["node_modules", ".next", "out"],
    setupFiles: ["./vitest.setup.ts"],
    restoreMocks: true,
    // The reader's zone decides what a time looks like: the tests have one, wherever they run.
    env: { TZ: "Europe/Oslo" },
  },
});
