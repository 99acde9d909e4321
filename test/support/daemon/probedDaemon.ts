/** The real executable with a native API on a free port, that also tells what memory and descriptors it holds. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { DAEMON_NODE_FLAGS } from "../../../adapters/serving/autostart.ts";
import { builtCli } from "./cliBuild.ts";
import type { CliSandbox, Running } from "./cliSandbox.ts";
import { reached } from "./sandboxDaemon.ts";

const PROBE = fileURLToPath(new URL("memoryProbe.mjs", import.meta.url));

/** After a collection of garbage. */
export interface Usage {
  readonly rss: number;
  readonly heapUsed: number;
  readonly arrayBuffers: number;
  /** Open descriptors, the one that counts them among them. */
  readonly descriptors: number;
  /** Used since the daemon was started. */
  readonly cpuMs: number;
}

interface ProbedDaemon {
  readonly running: Running;
  readonly url: string;
  readonly token: string;
  usage(): Promise<Usage>;
}

/** Ends with the sandbox. @param only the adapters that it serves */
export async function probedDaemon(sandbox: CliSandbox, only = "native"): Promise<ProbedDaemon> {
  const ports = ["--port", "0", "--http", "--addin-port", "0"];
  const flags = ["serve", "--only", only, ...ports, "--log-level", "warn"];
  const child = spawn(
    process.execPath,
    [...DAEMON_NODE_FLAGS, "--expose-gc", "--import", PROBE, builtCli(), ...flags],
    {
      env: { ...sandbox.env },
      cwd: sandbox.root,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    },
  );
  const running = sandbox.adopt(child);
  return {
    running,
    ...(await reached(sandbox, running)),
    usage: async () => {
      child.send("usage");
      const [usage] = (await once(child, "message")) as [Usage];
      return usage;
    },
  };
}

const MIB = 1_048_576;
export const mib = (bytes: number): number => Math.round((bytes / MIB) * 100) / 100;

/** Least squares: what `y` grows by when `x` grows by one. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (pick: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)];
  const over = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return over / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
