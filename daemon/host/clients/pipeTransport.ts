/**
 * `tmux -C` on pipes: for clients that end at once, and for all clients if the pty module is not installed. A client on
 * pipes stays attached when its daemon is killed (docs/tmuxFacts.md 3); the next start ends it (`orphanedClients.ts`).
 */
import { spawn as spawnChild } from "node:child_process";
import { countSpawn } from "../spawnCount.ts";
import { commandLine, type OpenTransport, type Transport, type TransportOptions } from "./transport.ts";

/** `tmux -C` on pipes. */
export const openPipeTransport: OpenTransport = (options) => openPipes(options, "used");

/** For a client whose commands are all on its command line; nothing may be written to it. It never outlives us. */
export const openShortTransport: OpenTransport = (options) => openPipes(options, "unused");

function openPipes(options: TransportOptions, input: "used" | "unused"): Transport {
  const { file, args } = commandLine(options, "-C", input);
  return openPiped({ ...options, file, args });
}

interface PipedProgram extends Pick<TransportOptions, "env" | "cwd" | "onData" | "onClose"> {
  readonly file: string;
  readonly args: readonly string[];
  /** What it prints as errors; absent: nobody reads it. */
  readonly onErrors?: ((chunk: Uint8Array) => void) | undefined;
}

/** @returns as well what ends its input */
export function openPiped(program: PipedProgram): Transport & { readonly endInput: () => void } {
  const { file, args, env, cwd, onData, onErrors, onClose } = program;
  const child = spawnChild(file, [...args], { env: { ...env }, cwd, stdio: ["pipe", "pipe", "pipe"] });
  countSpawn(child.pid);
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    onClose();
  };
  child.once("close", close);
  child.once("error", close);
  // Node makes no pipes when no descriptor is free (EMFILE).
  const { stdin, stdout, stderr }: Partial<Pick<typeof child, "stdin" | "stdout" | "stderr">> = child;
  stdout?.on("data", onData);
  if (onErrors === undefined) stderr?.resume();
  else stderr?.on("data", onErrors);
  // A write after the client is gone is reported by `close`, not here.
  stdin?.on("error", () => undefined);
  return {
    pid: child.pid ?? -1,
    write: (text) => {
      if (!closed) stdin?.write(text);
    },
    endInput: () => void stdin?.end(),
    close: () => {
      if (!closed) child.kill("SIGHUP");
    },
  };
}
