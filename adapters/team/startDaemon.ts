/** Starts the daemon for the extension, when the user has allowed that, without teamd's secrets. Runs inside pi. */
import { basename, dirname, join } from "node:path";
import { autostart } from "../serving/autostart.ts";
import type { Environment } from "./discovery.ts";

/** Resolves when it listens. @param daemonFile where it will say so. @throws Error with what it said */
export async function startDaemon(env: Environment, daemonFile: string): Promise<void> {
  try {
    await autostart({
      flags: ["--only", "team"],
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PI_TEAMD_"))),
      logPath: join(dirname(daemonFile), "daemon.log"),
      ready: /^team contract at /m,
      // pi may be a program of its own with another runtime inside.
      node: basename(process.execPath).startsWith("node") ? process.execPath : "node",
    });
  } catch (error) {
    throw new Error(`it did not start: ${(error as Error).message}`, { cause: error });
  }
}
