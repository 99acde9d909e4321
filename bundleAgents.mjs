/** For bundles, which have no folders to read: the catalogue of agents as it is on disk now. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transform } from "esbuild";

const SOURCE = join(import.meta.dirname, "adapters/agents/agentFolders.ts");

/** By the program's own reading: `adapters/agents/agentFolders.ts`. */
export async function agentFolders() {
  const define = { "import.meta.dirname": JSON.stringify(dirname(SOURCE)) };
  const { code } = await transform(readFileSync(SOURCE, "utf8"), { loader: "ts", define });
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return module.agentFolders();
}

/** An esbuild plugin: the module that reads the folders becomes one that knows them. */
export const foldersInBundle = {
  name: "agentFolders",
  setup({ onLoad }) {
    onLoad({ filter: /\/agentFolders\.ts$/ }, async () => {
      const text = JSON.stringify(JSON.stringify(await agentFolders()));
      return { contents: `export const agentFolders = () => JSON.parse(${text});` };
    });
  },
};
