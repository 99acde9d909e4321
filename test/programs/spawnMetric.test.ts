/** `tmuxwire_spawns_total` against what was really started: a tmux on the PATH that notes each of its starts. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { behind, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { eventually } from "../support/clock/eventually.ts";

test("counts every process that the daemon starts, and no operation starts one", async () => {
  await using sandbox = cliSandbox();
  const tmux = execFileSync("sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim();
  const starts = sandbox.path("starts");
  const noting = sandbox.binaries("noting", { tmux: `#!/bin/sh\necho "$*" >> "${starts}"\nexec "${tmux}" "$@"\n` });
  const guest = sandbox.path("tmp", "guest-tmux.sock");
  sandbox.tmux(guest, "-f", "/dev/null", "new-session", "-d", "-s", "users", "cat");
  const daemon = await sandbox.serve(["--server", `users=${guest}`], { env: { PATH: behind(noting) } });
  const [, port = ""] = await daemon.line(/http:\/\/127\.0\.0\.1:(\d+)/);
  const headers = { authorization: `Bearer ${readFileSync(sandbox.tokenPath, "utf8").trim()}` };
  const call = (method: string, path: string, body?: unknown) =>
    callJson(`http://127.0.0.1:${port}`, method, path, body, headers);
  const counted = async (): Promise<number> =>
    Number(/^tmuxwire_spawns_total (\d+)$/m.exec((await call("GET", "/metrics")).text)?.[1]);
  const noted = (): number => readFileSync(starts, "utf8").split("\n").length - 1;
  await eventually(async () => (await call("GET", "/readyz")).status === 200);
  const atStart = noted();
  // `tmux -V` for each server, a look at the guest, and a control client for each.
  expect(atStart).toBeGreaterThanOrEqual(4);
  // The guest's server was started as another program than the noting one, which was asked for its version.
  const unnoted = 1;
  expect(await counted()).toBe(atStart + unnoted);

  expect((await call("POST", "/v1/servers/main/sessions", { name: "work", command: ["cat"] })).status).toBe(201);
  const parts = [{ kind: "text", text: "hello\n" }];
  expect((await call("POST", "/v1/servers/main/panes/work/input", { parts })).status).toBe(200);
  expect((await call("GET", "/v1/servers/main/panes/work/capture")).status).toBe(200);
  expect([noted(), await counted()]).toEqual([atStart, atStart + unnoted]);

  // The client's successor: below 3.7 the daemon is the client itself and one process asks for the server; from 3.7 on there
  // is one more for the client and one for the client that puts the session before the new hub.
  const [client = ""] = sandbox.tmux(sandbox.tmuxSocketPath, "list-clients", "-F", "#{client_name}").split("\n");
  sandbox.tmux(sandbox.tmuxSocketPath, "detach-client", "-t", client);
  await eventually(() => noted() > atStart);
  await eventually(async () => (await call("GET", "/readyz")).status === 200);
  const after = noted();
  expect(after - atStart).toBeLessThanOrEqual(3);
  expect(await counted()).toBe(after + unnoted);
});
