/** Before anything else is loaded, which an older Node may not be able to: it would end in a stack trace about what it meets. */
import process from "node:process";

/** `engines` in package.json. */
const OLDEST_NODE = [20, 19] as const;

/** Ends the process where Node is too old. */
export function refuseOldNode(program: string): void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  const needed = OLDEST_NODE.join(".");
  process.stderr.write(
    `${program}: needs Node ${needed} or newer, this is ${process.versions.node}: install a newer one\n`,
  );
  process.exit(1);
}
