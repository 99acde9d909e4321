/** The daemon that a sandbox runs, as one reaches it from outside. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { createClient, type ServerClient } from "../../../adapters/client/client.ts";
import type { CliSandbox, Running } from "./cliSandbox.ts";

interface ReachedDaemon {
  readonly daemon: Running;
  readonly url: string;
  readonly token: string;
  readonly server: ServerClient;
}

/** What a command that succeeds prints. */
export async function run(sandbox: CliSandbox, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await sandbox.run(args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

/** A daemon, and a client in this process: starting commands is what takes long on a busy machine. */
export async function reached(sandbox: CliSandbox, running?: Running): Promise<ReachedDaemon> {
  const daemon = running ?? (await sandbox.serve());
  const [, url = ""] = await daemon.line(/native API listening on (http:\S+)/);
  const token = readFileSync(sandbox.tokenPath, "utf8").trim();
  return { daemon, url, token, server: createClient({ url, token }).server("main") };
}
