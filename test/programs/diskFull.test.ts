/** A state directory on a disk without room: a real one, a tmpfs in a mount namespace of the daemon's own. */
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { eventually } from "../support/clock/eventually.ts";
import { CAPABILITIES, FRESHELL_TOKEN, FreshellClient } from "../support/daemon/freshellFixture.ts";
import { callJson } from "../support/daemon/nativeServer.ts";

import { FakeOwner, requestOf } from "../support/freshell/fakeOwner.ts";

const MOUNTS = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size="$0",mode=700 tmpfs "$1" && shift && exec "$@"'];
const mayMount = spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;
if (!mayMount) process.stderr.write("diskFull.test.ts: skipped, this system lets us mount nothing (unshare -rm)\n");

describe.skipIf(!mayMount)("a full disk", () => {
  test("submit says what is full and what to do, types nothing, and works once there is room", async () => {
    await using sandbox = cliSandbox();
    const [file = "", ...args] = MOUNTS;
    const serve = [builtCli(), "serve", "--only", "native", "--port", "0"];
    const child = spawn(file, [...args, "512k", sandbox.path("state"), process.execPath, ...serve], {
      env: sandbox.env,
      cwd: sandbox.root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const daemon = sandbox.adopt(child);
    await daemon.line(/listening on unix:/);
    const [, port = ""] = await daemon.line(/http:\/\/127\.0\.0\.1:(\d+)/);
    const state = `/proc/${daemon.pid}/root${sandbox.path("state")}`;
    const authorization = `Bearer ${readFileSync(`${state}/tmuxwire/token`, "utf8").trim()}`;
    const call = (method: string, path: string, body?: unknown, headers = {}) =>
      callJson(`http://127.0.0.1:${port}`, method, path, body, { authorization, ...headers });
    const work = "/v1/servers/main/panes/work";
    await call("POST", "/v1/servers/main/sessions", { name: "work", command: ["/bin/sh"] });
    await eventually(async () => (await call("GET", work)).json["readiness"] !== null);
    const submit = (key: string) => call("POST", `${work}/submit`, { text: `echo ${key}` }, { "idempotency-key": key });
    const screen = async () => String((await call("GET", `${work}/capture`)).json["lines"]);

    spawnSync("sh", ["-c", `cat /dev/zero > "${state}/fill"`]);
    const before = await screen();
    // When the file is made, and again when it is there: each finds the disk full in its own way.
    for (const key of ["first", "second"]) {
      const { status, json } = await submit(key);
      expect([status, json["error"]]).toMatchObject([
        429,
        { code: "RESOURCE_LIMIT", details: { reason: "disk_full" } },
      ]);
      expect(json["error"]).toMatchObject({ message: expect.stringMatching(/is full; free some space/) as string });
    }
    expect(await screen()).toBe(before);
    spawnSync("rm", [`${state}/fill`]);
    expect(await submit("first")).toMatchObject({ status: 200 });
    await eventually(async () => (await screen()).includes("echo first"));

    // The record is there now and can grow no more.
    spawnSync("sh", ["-c", `cat /dev/zero > "${state}/fill"`]);
    let response = await submit("third-0");
    for (let count = 1; response.status === 200 && count < 200; count += 1) response = await submit(`third-${count}`);
    expect([response.status, response.json["error"]]).toMatchObject([429, { details: { reason: "disk_full" } }]);
  });

  test("a dashboard that is started again says that the disk is full, and comes back once there is room", async () => {
    await using sandbox = cliSandbox();
    const [file = "", ...args] = MOUNTS;
    // Holds the mount between two daemons.
    const holder = sandbox.adopt(
      spawn(file, [...args, "512k", sandbox.path("state"), "sh", "-c", "echo mounted; exec cat"], {
        stdio: ["pipe", "pipe", "pipe"],
      }),
    );
    await holder.line(/mounted/);
    const state = `/proc/${holder.pid}/root${sandbox.path("state")}`;
    const enter = ["-t", String(holder.pid), "-U", "-m", "--preserve-credentials", process.execPath, builtCli()];
    const serve = ["serve", "--only", "dashboard", "--dashboard-tmux-socket", sandbox.path("user.sock")];
    const start = () =>
      sandbox.adopt(spawn("nsenter", [...enter, ...serve], { env: sandbox.env, stdio: ["ignore", "pipe", "pipe"] }));
    const first = start();
    await first.line(/dashboard listening on/);
    first.child.kill("SIGTERM");
    expect((await first.finished).code).toBe(0);
    expect(readdirSync(`${state}/tmuxwire`).toSorted()).toEqual(["dashboard.db", "dashboard.db.lock"]);
    spawnSync("sh", ["-c", `cat /dev/zero > "${state}/fill"`]);
    const { code, stdout, stderr } = await start().finished;
    const told = stderr.split("\n").filter((line) => !line.startsWith("{"));
    expect([code, stdout, told]).toEqual([
      1,
      "",
      [
        expect.stringMatching(
          /^tmuxwire: the dashboard is not served: the disk that holds .* is full; free some space/,
        ),
        "",
      ],
    ]);
    spawnSync("rm", [`${state}/fill`]);
    await start().line(/dashboard listening on/);
  });

  test("F199: what the audit of Freshell cannot note is refused before it is sent, and goes once there is room", async () => {
    await using sandbox = cliSandbox();
    const [file = "", ...args] = MOUNTS;
    const serve = [builtCli(), "serve", "--only", "freshell"];
    const child = spawn(file, [...args, "512k", sandbox.path("state"), process.execPath, ...serve], {
      env: { ...sandbox.env, AUTH_TOKEN: FRESHELL_TOKEN, PORT: "0", FRESHELL_HOME: sandbox.path("state") },
      cwd: sandbox.root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const daemon = sandbox.adopt(child);
    const [, url = ""] = await daemon.line(/Freshell listening on (\S+)/);
    const connect = async (hello: object): Promise<FreshellClient> => {
      const client = await FreshellClient.open(url);
      client.send({ type: "hello", token: FRESHELL_TOKEN, capabilities: CAPABILITIES, ...hello });
      await client.next("ready");
      return client;
    };
    const owner = await FakeOwner.start({ connect }, "desk", { allow: ["caller"] });
    const state = `/proc/${daemon.pid}/root${sandbox.path("state")}`;
    const audit = `${state}/.freshell/audit/remote-control.jsonl`;
    const kill = () => {
      const request = requestOf("kill-pane", "desk", { target: "pane:p1" }, { expectedRevision: owner.revision });
      return callJson(url, "POST", "/api/rpc", request, { "x-auth-token": FRESHELL_TOKEN });
    };
    expect((await kill()).status).toBe(200);
    // The last block of the file has room for a few lines more.
    let response = await kill();
    spawnSync("sh", ["-c", `cat /dev/zero > "${state}/fill"`]);
    for (let count = 0; response.status === 200 && count < 200; count += 1) response = await kill();
    const sent = owner.asked.length;
    response = await kill();
    expect([response.status, response.json["error"]]).toMatchObject([
      500,
      { code: "INTERNAL_ERROR", stage: "relay", details: { cause: "audit" } },
    ]);
    expect(owner.asked).toHaveLength(sent);
    expect(
      (await callJson(url, "GET", "/api/devices/desk/layout", undefined, { "x-auth-token": FRESHELL_TOKEN })).status,
    ).toBe(200);
    spawnSync("rm", [`${state}/fill`]);
    expect((await kill()).status).toBe(200);
    // All that was sent is noted, and each line is whole.
    const lines = readFileSync(audit, "utf8").trim().split("\n");
    const done = lines.filter((line) => (JSON.parse(line) as { result: string }).result === "ok");
    expect(done.filter((line) => line.includes("kill-pane"))).toHaveLength(
      owner.asked.filter(({ phase }) => phase === "apply").length,
    );
    owner.client.socket.close();
  });
});
