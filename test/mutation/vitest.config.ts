import process from "node:process";
import { defineConfig } from "vitest/config";

/** Folders end with a slash, files have no extension. */
const tests = (process.env["MUTATION_TESTS"] ?? "").split(" ");

export default defineConfig({
  test: {
    include: tests.map((name) => `test/${name}${name.endsWith("/") ? "**/" : ""}*.test.ts`),
    setupFiles: "test/support/daemon/ownHome.ts",
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
