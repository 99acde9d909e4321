/** For bundles of command lines: what they have to know of the operations, worked out now (`operationFacts.ts`). */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { foldersInBundle } from "./bundleAgents.mjs";

const ROOT = import.meta.dirname;

/** By the module itself, loaded from beside the packages that it needs. */
async function operationFacts() {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ["adapters/operations/operationFacts.ts"],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    plugins: [foldersInBundle],
    logLevel: "warning",
  });
  const file = join(ROOT, `.facts.${process.pid}.mjs`);
  writeFileSync(file, outputFiles[0].contents);
  try {
    const { OPERATION_FACTS } = await import(pathToFileURL(file).href);
    return OPERATION_FACTS;
  } finally {
    rmSync(file);
  }
}

/** Worked out once, however many bundles want to know. */
let facts;

/** An esbuild plugin: the module that asks the operations becomes one that knows. */
export const factsInBundle = {
  name: "operationFacts",
  setup({ onLoad }) {
    onLoad({ filter: /\/operationFacts\.ts$/ }, async () => {
      const text = JSON.stringify(JSON.stringify(await (facts ??= operationFacts())));
      return { contents: `export const OPERATION_FACTS = JSON.parse(${text});` };
    });
  },
};
