/** For bundles of command lines: what they have to know of the operations and of agents, worked out now. */
import { rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { foldersInBundle } from "./bundleAgents.mjs";

const ROOT = import.meta.dirname;

/** The modules, and what each exports. */
const MODULES = {
  "adapters/operations/operationFacts.ts": "OPERATION_FACTS",
  "adapters/agents/profileNames.ts": "PROFILE_NAMES",
};

/** By the modules themselves, loaded from beside the packages that they need. */
async function worked() {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: Object.entries(MODULES)
        .map(([path, name]) => `export { ${name} } from "./${path}";`)
        .join("\n"),
      resolveDir: ROOT,
    },
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
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(file);
  }
}

/** Worked out once, however many bundles want to know. */
let facts;

/** An esbuild plugin: a module that asks the operations, or the catalogue, becomes one that knows. */
export const factsInBundle = {
  name: "facts",
  setup({ onLoad }) {
    onLoad({ filter: /\/(?:operationFacts|profileNames)\.ts$/ }, async ({ path }) => {
      const name = MODULES[relative(ROOT, path)];
      const text = JSON.stringify(JSON.stringify((await (facts ??= worked()))[name]));
      return { contents: `export const ${name} = JSON.parse(${text});` };
    });
  },
};
