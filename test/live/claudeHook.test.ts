/**
 * The hooks as Claude Code runs them: the command of the settings in a shell, the event on its stdin, in a pane of real
 * tmux, against a real listener. Whatever happens, the agent sees a success and nothing printed, soon.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dashboardFixture, UUID } from "../support/daemon/dashboardFixture.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { hookCommand, type HookRun, runHook } from "../support/agents/hookCommand.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";

interface Posted {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let home = "";
let listener: Server;
let posted: Posted[] = [];
let dashboard = "";

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "tmuxwire it's-"));
  posted = [];
  listener = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      posted.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      response.end('{"decision":"block","reason":"printed, this would steer the agent"}');
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  dashboard = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
});

afterEach(() => {
  listener.close();
  listener.closeAllConnections();
  rmSync(home, { recursive: true });
});

const shells = ["dash", "bash", "busybox"]
  .map((name) => ({ name, path: onPath(name) }))
  .filter(({ name, path }) => {
    if (path === undefined) process.stderr.write(`${name} is not installed: the hook script is not tried in it\n`);
    return path !== undefined;
  });

function onPath(program: string): string | undefined {
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  return directories.map((directory) => join(directory, program)).find((path) => existsSync(path));
}

/** A directory for PATH in which `sh` is this shell, with or without what else there is. */
function pathWith(shell: string, more: readonly string[] = ["curl", "cat"]): string {
  const bin = join(home, `bin-${shell}-${more.length}`);
  mkdirSync(bin, { recursive: true });
  if (shell === "busybox") {
    writeFileSync(join(bin, "sh"), `#!/bin/sh\nexec ${onPath("busybox")} sh "$@"\n`);
    chmodSync(join(bin, "sh"), 0o755);
  } else symlinkSync(onPath(shell)!, join(bin, "sh"));
  for (const program of more) symlinkSync(onPath(program)!, join(bin, program));
  return bin;
}

const commandOf = (event: string, url = dashboard, env: Record<string, string> = {}): Promise<string> =>
  hookCommand(home, event, url, env);

const run = (command: string, event: string, env: Record<string, string>): Promise<HookRun> =>
  runHook(join(env["PATH"]!, "sh"), command, event, env);

const EVENT = JSON.stringify({
  session_id: "0c9e",
  hook_event_name: "UserPromptSubmit",
  cwd: "/home/me/it's",
  prompt: "two\nlines, \"quotes\", $HOME `id` \\ 'x' 🦊 %41",
});

const quiet = { code: 0, output: "" };

describe.each(shells)("in $name", ({ name }) => {
  test("the event arrives unchanged, with its pane", async () => {
    await using socket = privateSocket();
    const [eventFile, outFile] = [join(home, "event"), join(home, "out")];
    writeFileSync(eventFile, EVENT);
    const command = await commandOf("UserPromptSubmit");
    writeFileSync(join(home, "hook"), command);
    const script = `PATH=$1; sh -c "$(cat "$2/hook")" < "$2/event" > "$2/printed" 2>&1; echo "$?" > "$2/out"; cat`;
    const argv = ["sh", "-c", script, "sh", pathWith(name), home];
    const row = socket.tmux("-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pane_id} #{pid}", "--", ...argv);
    const [pane, pid] = row.trim().split(" ");
    await eventually(() => existsSync(outFile) && readFileSync(outFile, "utf8") !== "");
    expect(readFileSync(outFile, "utf8")).toBe("0\n");
    expect(readFileSync(join(home, "printed"), "utf8")).toBe("");
    expect(posted).toHaveLength(1);
    expect(posted[0]).toMatchObject({ method: "POST", url: "/hook/user-prompt-submit", body: EVENT });
    expect(posted[0]?.headers).toMatchObject({
      "content-type": "application/json",
      "x-tmux-pane": pane,
      "x-tmux": `${socket.socketPath},${pid},0`,
    });
  });

  test("outside tmux, or with something else in its variables, there are no such headers", async () => {
    const command = await commandOf("Stop");
    const env = { PATH: pathWith(name), HOME: home };
    const odd = [{}, { TMUX_PANE: "", TMUX: "" }, { TMUX_PANE: "%7\r\nX-Evil: 1", TMUX: "/s,1,0\nX-Evil: 1" }];
    const odder = [
      { TMUX_PANE: "7", TMUX: "s" },
      { TMUX_PANE: "%", TMUX: "/tmp" },
      { TMUX_PANE: "%7x", TMUX: "/é,1,0" },
    ];
    for (const more of [...odd, ...odder]) expect(await run(command, EVENT, { ...env, ...more })).toMatchObject(quiet);
    expect(posted).toHaveLength(6);
    for (const { headers, body } of posted) {
      expect(body).toBe(EVENT);
      expect(Object.keys(headers).filter((header) => header.startsWith("x-"))).toEqual([]);
    }
  });

  test("a long event, the token, nobody's proxy and nobody's .curlrc", async () => {
    const command = await commandOf("PostToolUse", dashboard, { TMUXWIRE_DASHBOARD_TOKEN: 'se"cr\\et' });
    writeFileSync(join(home, ".curlrc"), 'header = "X-Mine: 1"\nproxy = "http://127.0.0.1:1"\n');
    const env = { PATH: pathWith(name), HOME: home, http_proxy: "http://127.0.0.1:1", ALL_PROXY: "http://127.0.0.1:1" };
    const long = JSON.stringify({ session_id: "x", tool_response: "\u0000é🦊".repeat(500_000) });
    expect(await run(command, long, env)).toMatchObject(quiet);
    expect(posted).toHaveLength(1);
    expect(posted[0]?.headers.authorization).toBe('Bearer se"cr\\et');
    expect(posted[0]?.headers).not.toHaveProperty("x-mine");
    expect(posted[0]?.body).toBe(long);
  });

  test("without a dashboard, without curl, without the script: a success at once", async () => {
    const command = await commandOf("Stop", "http://127.0.0.1:1");
    const env = { PATH: pathWith(name), HOME: home };
    const long = EVENT + " ".repeat(1_000_000);
    expect(await run(command, long, env)).toMatchObject(quiet);
    expect(await run(command, long, { ...env, PATH: pathWith(name, ["cat"]) })).toMatchObject(quiet);
    rmSync(join(home, ".local"), { recursive: true });
    expect(await run(command, long, env)).toMatchObject(quiet);
  });

  test("the hook does not wait for a dashboard that does not respond", async () => {
    const silent = createTcpServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    const command = await commandOf("Stop", `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    const ran = await run(command, EVENT, { PATH: pathWith(name), HOME: home });
    expect(ran).toMatchObject(quiet);
    expect(ran.tookMs).toBeGreaterThan(1_500);
    silent.close();
  });
});

test("all eight events go to the routes that the dashboard has", async () => {
  const env = { PATH: pathWith("dash"), HOME: home };
  const routes = {
    SessionStart: "session-start",
    SessionEnd: "session-end",
    UserPromptSubmit: "user-prompt-submit",
    Stop: "stop",
    Notification: "notification",
    PreToolUse: "pre-tool-use",
    PostToolUse: "post-tool-use",
    PermissionRequest: "permission-request",
  };
  for (const event of Object.keys(routes)) await run(await commandOf(event), "{}", env);
  expect(posted.map(({ url }) => url)).toEqual(Object.values(routes).map((route) => `/hook/${route}`));
});

test("a real dashboard knows the agent by it, and the pane that the agent is in", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "desk"));
  const { server, socket } = fixture;
  await using real = await dashboardFixture(server);
  const command = await commandOf("SessionStart", real.url);
  const event = { session_id: UUID, hook_event_name: "SessionStart", source: "startup", cwd: home };
  writeFileSync(join(home, "event"), JSON.stringify(event));
  writeFileSync(join(home, "hook"), command);
  // It may speak before tmux has told us of its pane.
  const argv = ["sh", "-c", `sh -c "$(cat "$1/hook")" < "$1/event"; cat`, "sh", home];
  const pane = userSession(socket, "work", argv);
  await eventually(() => server.findSession("work") !== undefined);
  const agents = async (): Promise<readonly unknown[]> => {
    const { json } = await real.call("GET", "/api/agents");
    return json["agents"] as readonly unknown[];
  };
  await eventually(async () => (await agents()).length > 0);
  expect(await agents()).toEqual([expect.objectContaining({ tmux_pane_id: pane, tmux_session: "work" })]);
});
