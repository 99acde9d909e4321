import process from "node:process";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Folders end with a slash, files have no extension. */
const tests = (process.env["MUTATION_TESTS"] ?? "").split(" ");

/** A run stops at the first failure, so the quick tests come first; vitest begins with the longest. */
class QuickFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): number => (moduleId.includes("/test/unit/") ? 0 : 1);
    return Promise.resolve(files.toSorted((one, other) => isSlow(one) - isSlow(other)));
  }
}

export default defineConfig({
  test: {
    include: tests.map((name) => `test/${name}${name.endsWith("/") ? "**/" : ""}*.test.ts`),
    setupFiles: ["test/support/daemon/ownHome.ts", "test/support/propertySeed.ts"],
    sequence: { sequencer: QuickFirst },
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
