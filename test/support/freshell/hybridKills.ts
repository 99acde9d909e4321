/**
 * A daemon whose hybrids are cut off at one of their steps, and what must hold of it afterwards: each pane's terminal runs,
 * each terminal is in a pane or told of as an orphan, and tmux holds nothing that is not listed.
 */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { leavesOf } from "../../../protocol/api/freshell/deviceLayout.ts";
import type { TerminalEntry } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { DeviceLayoutResponse } from "../../../protocol/api/freshell/rpc.ts";
import type { CliSandbox, Running } from "../daemon/cliSandbox.ts";
import { CAPABILITIES, FRESHELL_TOKEN, FreshellClient } from "../daemon/freshellFixture.ts";
import { callJson } from "../daemon/nativeServer.ts";
import type { Listener } from "./fakeOwner.ts";

export const HYBRIDS = ["split-pane", "attach-terminal", "respawn-pane"] as const;
export const STEPS = ["reserve", "act", "finalize"] as const;
export type Hybrid = (typeof HYBRIDS)[number];
export type Step = (typeof STEPS)[number];

export interface Daemon extends Listener {
  readonly running: Running;
  readonly url: string;
  call(method: string, path: string, body?: unknown): ReturnType<typeof callJson>;
  terminals(): Promise<readonly TerminalEntry[]>;
}

export async function serve(sandbox: CliSandbox): Promise<Daemon> {
  const running = sandbox.start(["serve", "--only", "freshell"], { env: { AUTH_TOKEN: FRESHELL_TOKEN, PORT: "0" } });
  const [, url = ""] = await running.line(/Freshell listening on (\S+)/);
  return daemonAt(running, url, FRESHELL_TOKEN);
}

/** @param token the bootstrap token */
export function daemonAt(running: Running, url: string, token: string): Daemon {
  const call: Daemon["call"] = (method, path, body) => callJson(url, method, path, body, { "x-auth-token": token });
  return {
    running,
    url,
    call,
    terminals: async () => (await call("GET", "/api/terminals")).json as unknown as readonly TerminalEntry[],
    connect: async (hello) => {
      const client = await FreshellClient.open(url);
      client.send({ type: "hello", token, capabilities: CAPABILITIES, ...hello });
      await client.next("ready");
      return client;
    },
  };
}

/** What a request for it about the pane (`pane:ID`) says. */
export async function argsFor(daemon: Daemon, hybrid: Hybrid, pane: string): Promise<object> {
  if (hybrid === "respawn-pane") return { target: pane };
  if (hybrid === "split-pane") return { target: pane, direction: "horizontal", shell: "/bin/sh" };
  const { json } = await daemon.call("POST", "/api/terminals", { shell: "/bin/sh" });
  return { target: `terminal:${String(json["terminalId"])}`, to: pane };
}

/** In all panes of a layout as published. */
export const terminalsIn = ({ snapshot }: DeviceLayoutResponse): readonly string[] =>
  Object.values(snapshot.layouts)
    .flatMap((tree) => leavesOf(tree))
    .flatMap(({ content }) => (content.kind === "terminal" ? [content.terminalId] : []));

/** @param shown the terminals in the panes of the device's layout, which has been published */
export async function requireWhole(
  sandbox: CliSandbox,
  daemon: Daemon,
  shown: readonly unknown[],
  what: string,
): Promise<void> {
  const terminals = await daemon.terminals();
  for (const id of shown)
    expect([what, terminals.find(({ terminalId }) => terminalId === id)?.status]).toEqual([what, "running"]);
  // Made by this test over HTTP, as attach-terminal's are: nobody promised them a pane.
  const isPlain = ({ terminalId }: TerminalEntry): boolean => plain.has(terminalId);
  for (const terminal of terminals.filter((one) => !isPlain(one))) {
    const hasPane = shown.includes(terminal.terminalId);
    expect([what, terminal.terminalId, terminal.orphan === true]).toEqual([what, terminal.terminalId, !hasPane]);
  }
  const socket = sandbox.path("run/tmuxwire/freshell.sock");
  const sessions = sandbox.tmux(socket, "list-sessions", "-F", "#{session_name}").split("\n");
  expect([what, sessions.filter((name) => name.startsWith("freshell-")).length]).toEqual([what, terminals.length]);
}
const plain = new Set<string>();
/** Those that are there now owe nobody a pane. */
export const notePlain = async (daemon: Daemon): Promise<void> => {
  for (const { terminalId, orphan } of await daemon.terminals()) if (orphan !== true) plain.add(terminalId);
};
interface AuditLine {
  readonly requestId: string;
  readonly callerDeviceId: string;
  readonly result: string;
  readonly errorCode: string | null;
}
export const auditOf = (sandbox: CliSandbox): readonly AuditLine[] =>
  readFileSync(sandbox.path("home/.freshell/audit/remote-control.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditLine);
