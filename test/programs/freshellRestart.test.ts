/** Freshell's terminals outlive the daemon, and nothing of its tokens reaches them (F187 F196, docs/contracts/freshell.md). */
import { expect, test } from "vitest";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox, type CliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { callJson } from "../support/daemon/nativeServer.ts";

const KEEPS_PANES = keepsPanes();
const TOKEN = "bootstrap-token-of-a-test";
const SECRETS = {
  AUTH_TOKEN: TOKEN,
  FRESHELL_TOKEN: "device-token-of-a-test",
  PI_TEAMD_TOKEN: "team-token-of-a-test",
  TMUX_BRIDGE_TOKEN: "bridge-token-of-a-test",
};

async function serve(sandbox: CliSandbox): Promise<{ daemon: Running; call: Call }> {
  const daemon = sandbox.start(["serve", "--only", "freshell", "--freshell-port", "0"], { env: SECRETS });
  const [, url = ""] = await daemon.line(/^Freshell listening on (http:\S+)/m);
  return { daemon, call: (method, path, body) => callJson(url, method, path, body, { "x-auth-token": TOKEN }) };
}
type Call = (method: string, path: string, body?: unknown) => ReturnType<typeof callJson>;

const entries = async (call: Call) =>
  (await call("GET", "/api/terminals")).json as unknown as readonly {
    terminalId: string;
    status: string;
    title: string;
    cwd: string;
    exitCode?: number;
    createdAt: number;
    bufferRef: { outputSeq: number };
  }[];
const capture = async (call: Call, id: string): Promise<string> =>
  ((await call("GET", `/api/terminals/${id}/capture?S=-&J=1`)).json["lines"] as string[]).join("\n");

async function run(call: Call, terminalId: string, command: string, pattern: string): Promise<void> {
  const done = call("POST", "/api/waits", { target: { terminalId }, pattern, timeoutSec: 50 });
  await call("POST", `/api/terminals/${terminalId}/input`, { keys: [command, "Enter"] });
  expect((await done).status).toBe(200);
}

test("after SIGKILL and a new start: the same terminals, their history, and no outputSeq that goes back", async () => {
  await using sandbox = cliSandbox();
  const { daemon, call } = await serve(sandbox);
  const create = async (body: object): Promise<string> =>
    (await call("POST", "/api/terminals", { shell: "/bin/sh", ...body })).json["terminalId"] as string;
  const running = await create({ title: "build", cwd: "/tmp" });
  const ended = await create({});
  await run(call, running, "seq 1 200; echo x=$X; echo before-$((40+2))", "before-42");
  await run(call, ended, "echo last; echo last-$((40+2)); exit 3", "last-42");
  await eventually(async () => (await entries(call)).some(({ status }) => status === "exited"));
  // Without its pane an ended one is forgotten with the daemon.
  const before = (await entries(call)).filter(({ status }) => KEEPS_PANES || status === "running");

  const tmux = (...args: string[]) => sandbox.tmux(sandbox.path("run/tmuxwire/freshell.sock"), ...args);
  await run(call, running, "env; echo env-$((40+2))", "env-42");
  const seen = `${await capture(call, running)}\n${tmux("show-environment", "-g")}`;
  for (const [name, secret] of Object.entries(SECRETS)) {
    expect([name, seen.includes(secret), seen.includes(`${name}=`)]).toEqual([name, false, false]);
  }
  expect(seen).toMatch(/^FRESHELL_URL=http:\/\/127\.0\.0\.1:\d+ *$/m);
  expect(seen).toContain(`FRESHELL_TERMINAL_ID=${running}`);

  daemon.child.kill("SIGKILL");
  await daemon.finished;
  // What a daemon leaves that is killed while it makes a terminal, and a person's own session.
  tmux("new-session", "-d", "-s", "freshell-0123", "cat");
  tmux("new-session", "-d", "-s", "mine", "cat");

  const next = await serve(sandbox);
  const after = await entries(next.call);
  expect(tmux("list-sessions", "-F", "#{session_name}")).not.toContain("freshell-0123");
  expect(tmux("list-sessions", "-F", "#{session_name}")).toMatch(/^mine$/m);
  const stays = ({ terminalId, title, cwd, status, exitCode, createdAt }: (typeof before)[number]) => ({
    terminalId,
    title,
    cwd,
    status,
    exitCode,
    createdAt,
  });
  expect(after.map(stays)).toEqual(before.map(stays));
  const states = [
    ["running", undefined],
    ["exited", 3],
  ];
  expect(after.map(({ status, exitCode }) => [status, exitCode])).toEqual(KEEPS_PANES ? states : states.slice(0, 1));
  for (const [at, { bufferRef }] of after.entries()) {
    expect(bufferRef.outputSeq).toBeGreaterThanOrEqual(before[at]!.bufferRef.outputSeq);
  }
  expect(await capture(next.call, running)).toMatch(/1 *\n2 *\n3 *\n/);
  if (KEEPS_PANES) expect(await capture(next.call, ended)).toContain("last-42");
  await run(next.call, running, "echo again-$((40+2))", "again-42");

  // A stop that is told loses nothing: the numbers go on where they were.
  const told = (await entries(next.call))[0]!.bufferRef.outputSeq;
  next.daemon.child.kill("SIGTERM");
  expect((await next.daemon.finished).code).toBe(0);
  const last = await serve(sandbox);
  const seq = (await entries(last.call))[0]!.bufferRef.outputSeq;
  expect(seq).toBeGreaterThanOrEqual(told);
  expect(seq).toBeLessThan(told + 100_000);
  const respawned = await last.call("POST", `/api/terminals/${running}/respawn`);
  expect(respawned.json).toMatchObject({ terminalId: running, cwd: "/tmp", title: "build", status: "running" });
  for (const { stderr } of [daemon, next.daemon, last.daemon]) expect(stderr()).not.toContain(TOKEN);
});
