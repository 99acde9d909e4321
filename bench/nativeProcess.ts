/** A bench's own daemon process with the native API: started, asked, ended. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface NativeProcess extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  ask<Reply>(request: object): Promise<Reply>;
}

/** Runs what stands beside this file: compiled in a bench, source where Node can run that. */
const beside = (name: string): string =>
  fileURLToPath(new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));

export const forkBench = (name: string, args: readonly string[]): ChildProcess =>
  fork(beside(name), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });

/** On tmux with a socket path, on a pane in memory without. */
export async function nativeProcess(socketPath = "", ringBytes?: number): Promise<NativeProcess> {
  const child = forkBench("nativeDaemon", [socketPath, ...(ringBytes === undefined ? [] : [String(ringBytes)])]);
  // One that ends has said why on stderr; nobody waits for it then.
  const gone = new AbortController();
  child.once("exit", () => gone.abort());
  const { signal } = gone;
  const [{ port }] = (await once(child, "message", { signal })) as [{ port: number }];
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    ask: async <Reply>(request: object) => {
      child.send(request);
      const [reply] = (await once(child, "message", { signal })) as [Reply];
      return reply;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      child.disconnect();
      await once(child, "exit");
    },
  };
}
