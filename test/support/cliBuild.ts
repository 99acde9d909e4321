/** The compiled executable, as a user runs it; `buildFirst` has made it. */
import { resolve } from "node:path";

const EXECUTABLE = resolve(import.meta.dirname, "../../dist/adapters/bin/tmuxwire.js");

/** Its path. */
export const builtCli = (): string => EXECUTABLE;
