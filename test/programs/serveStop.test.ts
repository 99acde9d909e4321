/** A daemon that is told to stop: everything under way is settled, every stream ends with its last event. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createClient } from "../../adapters/client/client.ts";
import type { CliSandbox, Running } from "../support/daemon/cliSandbox.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { Reader } from "../support/daemon/nativeReader.ts";

const megabyte = "x".repeat(1_048_576);

interface Answer {
  readonly status: number;
  readonly json: { readonly error?: { readonly code: string; readonly details?: Record<string, unknown> } };
}

const tokenOf = (sandbox: CliSandbox): string => readFileSync(sandbox.tokenPath, "utf8").trim();

/** A POST over a port or a unix socket; rejects when the connection is cut. */
function post(sandbox: CliSandbox, at: { url: string; socketPath?: string }, path: string, body: unknown) {
  return new Promise<Answer>((resolve, reject) => {
    const headers = { authorization: `Bearer ${tokenOf(sandbox)}`, "content-type": "application/json" };
    const { url, ...rest } = at;
    request(`${url}${path}`, { method: "POST", headers, ...rest }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) as Answer["json"] }));
      response.on("error", reject);
    })
      .on("error", reject)
      .end(JSON.stringify(body));
  });
}

async function serveWithPane(sandbox: CliSandbox) {
  const daemon = await sandbox.serve();
  const [, port = ""] = await daemon.line(/http:\/\/127\.0\.0\.1:(\d+)/);
  for (const name of ["a", "b", "c"]) await sandbox.run(["new", name, "--", "cat"]);
  const url = `http://127.0.0.1:${port}`;
  const client = createClient({ url, token: tokenOf(sandbox) });
  const tmuxPid = Number(sandbox.tmux(sandbox.tmuxSocketPath, "display-message", "-p", "#{pid}"));
  return { daemon, url, client, tmuxPid, unix: { url: "http://localhost", socketPath: sandbox.socketPath } };
}

async function stop(daemon: Running): Promise<void> {
  daemon.child.kill("SIGTERM");
  expect((await daemon.finished).code).toBe(0);
}

/** A tmux that takes nothing: what is asked of it stays under way until the test ends. */
function stopped(pid: number): Disposable {
  process.kill(pid, "SIGSTOP");
  return { [Symbol.dispose]: () => void process.kill(pid, "SIGCONT") };
}

const INDETERMINATE = { code: "SHUTTING_DOWN", details: { delivery: "indeterminate" } };
const inputTo = (session: string): string => `/v1/servers/main/panes/${session}/input`;
const input = (text: string) => ({ parts: [{ kind: "text" as const, text }] });

/** Whatever was sent before has been accepted by the daemon when these have their responses. */
async function roundTrips(url: string): Promise<void> {
  for (let count = 0; count < 10; count += 1) expect((await fetch(`${url}/livez`)).status).toBe(200);
}

describe("SIGTERM", () => {
  test("an input that tmux has not replied to is `indeterminate` on every transport", async () => {
    await using sandbox = cliSandbox();
    const { daemon, url, client, tmuxPid, unix } = await serveWithPane(sandbox);
    const socket = client.openSocket({ WebSocket });
    await socket.input("main", "c", input("there\n").parts);
    using silent = stopped(tmuxPid);
    expect(silent).toBeDefined();
    const byPort = post(sandbox, { url }, inputTo("a"), input(megabyte));
    const byUnix = post(sandbox, unix, inputTo("b"), input(megabyte));
    const bySocket = socket.input("main", "c", input(megabyte).parts).catch((error: unknown) => error);
    await roundTrips(url);
    const behind = post(sandbox, unix, inputTo("b"), input("small"));
    await roundTrips(url);
    // The response on the socket says that the input before it has been taken.
    await expect(socket.resize("main", "nobody", 80, 24)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await stop(daemon);
    expect(await byPort).toMatchObject({ status: 503, json: { error: INDETERMINATE } });
    expect(await byUnix).toMatchObject({ status: 503, json: { error: INDETERMINATE } });
    expect(await bySocket).toMatchObject({ ...INDETERMINATE, message: expect.stringContaining("stopping") as string });
    // Nothing of this one was written.
    const { status, json } = await behind;
    expect([status, json.error?.code, json.error?.details?.["delivery"]]).toEqual([503, "SHUTTING_DOWN", undefined]);
    socket.close();
  });

  test("a large input is finished or `indeterminate`, never cut off; every stream ends with `closed`", async () => {
    await using sandbox = cliSandbox();
    const { daemon, url, client } = await serveWithPane(sandbox);
    const socket = client.openSocket({ WebSocket });
    await using bySocket = new Reader(socket.follow("main", "a", { resume: false }), () => socket.close());
    await using bySse = new Reader(client.server("main").pane("a").follow({ resume: false }));
    for (const reader of [bySocket, bySse]) expect(await reader.next()).toMatchObject({ kind: "open" });
    const answer = post(sandbox, { url }, inputTo("b"), input(megabyte));
    await roundTrips(url);
    await stop(daemon);
    const { status, json } = await answer;
    expect([200, 503]).toContain(status);
    if (status === 503) expect(json.error).toMatchObject(INDETERMINATE);
    for (const reader of [bySocket, bySse]) {
      expect(await reader.next()).toMatchObject({ kind: "closed", code: "SHUTTING_DOWN" });
      expect(await reader.next()).toBeUndefined();
    }
  });
});

/** What runs before the program: it sends SIGTERM in the turn in which the program begins to listen for it. */
const SIGNAL_WHEN_LISTENED_FOR = `
const { once } = process;
process.once = function (event, ...rest) {
  const answer = once.call(this, event, ...rest);
  if (event === "SIGTERM") process.kill(process.pid, event);
  return answer;
};`;

/** As far as the start has come, from the first turn to the last line. */
const MOMENTS = [/add-in|bridge/, /team contract/, /dashboard listening/] as const;

describe("SIGTERM while it starts", () => {
  const everything = (sandbox: CliSandbox): string[] => {
    const none = sandbox.path("tmp/none.sock");
    return ["serve", "--http", "--addin-port", "0", "--port", "0", "--dashboard-tmux-socket", none];
  };
  const events = (stderr: string): string[] =>
    stderr
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => (JSON.parse(line) as { event: string }).event);

  test("before the servers are loaded: nothing is started", async () => {
    await using sandbox = cliSandbox();
    writeFileSync(sandbox.path("signal.mjs"), SIGNAL_WHEN_LISTENED_FOR);
    const daemon = sandbox.start(everything(sandbox), {
      env: { NODE_OPTIONS: `--import ${sandbox.path("signal.mjs")}` },
    });
    const { code, stdout, stderr } = await daemon.finished;
    expect([code, stdout, events(stderr)]).toEqual([0, "", ["daemon.stopping", "daemon.stopped"]]);
    expect(existsSync(sandbox.tmuxSocketPath)).toBe(false);
  });

  test.each(MOMENTS)("at the line %s", async (moment) => {
    await using sandbox = cliSandbox();
    const daemon = sandbox.start(everything(sandbox));
    await daemon.line(moment);
    await stop(daemon);
    expect(events(daemon.stderr())).toEqual(expect.arrayContaining(["daemon.stopping", "daemon.stopped"]));
  });
});
