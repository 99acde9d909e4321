/** Of what is built, what tests run: the executable as a user runs it, and our own processes. `buildFirst` has made it. */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const BUILT = resolve(import.meta.dirname, "../../../dist");
const EXECUTABLE = join(BUILT, "adapters/bin/tmuxwire.cjs");

/** The path of the executable. */
export const builtCli = (): string => EXECUTABLE;

/** The path of the other one. */
export const builtFreshell = (): string => join(BUILT, "adapters/bin/freshell.js");

/** The process to fork for a daemon that tests kill. */
export const daemonChild = (): string => join(BUILT, "test/support/daemon/daemonChild.js");

/** The process that holds a link to a host, and is killed. */
export const linkChild = (): string => join(BUILT, "test/support/daemon/linkChild.js");

/** What a process of a test's own making imports for a guest. */
export const guestEngine = (): string => pathToFileURL(join(BUILT, "test/support/tmux/guestEngine.js")).href;
