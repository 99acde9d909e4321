/** Where the peers bench finds its files: what it is split into by the bundler lies elsewhere than its source. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(import.meta.url);

function repository(): string {
  let folder = dirname(HERE);
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

/** A file of the repository, as it is there: scripts in other languages, and the agents' stand-ins. */
export const inRepository = (path: string): string => join(repository(), path);

/** A program of the bench: compiled where this is. */
export const peerProgram = (name: string): string =>
  HERE.endsWith(".js") ? inRepository(`dist/bench/peers/${name}.js`) : inRepository(`bench/peers/${name}.ts`);

/** The program that a user has. */
export const TMUXWIRE = inRepository("dist/adapters/bin/tmuxwire.js");
