/** A state directory on a disk without room: a real one, a tmpfs in a mount namespace of the daemon's own. */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { eventually } from "../support/clock/eventually.ts";
import { callJson } from "../support/daemon/nativeServer.ts";

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
      expect(json["error"]).toMatchObject({ message: expect.stringMatching(/is full; make room/) as string });
    }
    expect(await screen()).toBe(before);
    spawnSync("rm", [`${state}/fill`]);
    expect(await submit("first")).toMatchObject({ status: 200 });
    await eventually(async () => (await screen()).includes("echo first"));

    // The record is there now and can grow no more.
    spawnSync("sh", ["-c", `cat /dev/zero > "${state}/fill"`]);
    let answer = await submit("third-0");
    for (let count = 1; answer.status === 200 && count < 200; count += 1) answer = await submit(`third-${count}`);
    expect([answer.status, answer.json["error"]]).toMatchObject([429, { details: { reason: "disk_full" } }]);
  });
});
