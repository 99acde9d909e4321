/** The built `freshell` against the daemon and real tmux: captures as tmux makes them, waits that end, logins. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { FreshellScene } from "../support/freshell/freshellScene.ts";
import { AUTH_TOKEN, freshellScene } from "../support/freshell/freshellScene.ts";

let scene: FreshellScene;
beforeAll(async () => {
  scene = await freshellScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const of = (terminalId: string): readonly [string, string] => ["--target", `terminal:${terminalId}`];

test("F080-F084 capture-pane prints what tmux's own prints", async () => {
  const terminal = await scene.terminal();
  const printed = "seq 200; printf 'x%.0s' $(seq 200); printf '\\n\\033[31mred\\033[0m\\n'; echo printed-$((1+1))";
  await scene.data("send-keys", ...of(terminal), printed, "Enter");
  await scene.data("wait-for", ...of(terminal), "-p", "printed-2", "--from", "tail:50");
  await scene.data("wait-for", ...of(terminal), "--prompt", "--from", "tail:2");
  for (const options of [[], ["-S", "-30", "-J", "-e"]]) {
    const { code, stdout } = await scene.run("capture-pane", ...of(terminal), ...options);
    expect([code, stdout]).toEqual([0, await scene.tmux(terminal, "capture-pane", "-p", ...options)]);
  }
});

test("F135 an interrupted wait-for ends its wait at the server", async () => {
  const terminal = await scene.terminal();
  const wait = scene.start("wait-for", ...of(terminal), "-p", "never", "-T", "600");
  await waits(1);
  wait.child.kill("SIGINT");
  expect(await wait.finished).toEqual({ code: 130, stdout: "", stderr: "" });
  await waits(0);
});

/** Resolves once the server has this number of waits. */
async function waits(count: number): Promise<void> {
  const wanted = new RegExp(`^wait_active ${count}$`, "m");
  const headers = { "x-auth-token": AUTH_TOKEN };
  const metrics = async (): Promise<string> => (await fetch(`${scene.url}/api/metrics`, { headers })).text();
  await vi.waitFor(async () => expect(await metrics()).toMatch(wanted), { timeout: 30_000, interval: 20 });
}

describe("logins", () => {
  test("F017 ten concurrent first commands make one device", async () => {
    const home = scene.sandbox.path("fresh");
    const env = { FRESHELL_HOME: home, FRESHELL_URL: scene.url };
    const script = "freshell.js";
    const read = () => readFileSync(`${home}/.freshell/cli-device.json`, "utf8");
    const ids = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { stdout } = await scene.sandbox.run(["display", "-p", "%deviceId"], { script, env });
        return stdout.trim();
      }),
    );
    expect(new Set(ids)).toEqual(new Set([(JSON.parse(read()) as { deviceId: string }).deviceId]));
  });

  test("F190 F192 F202 F203 concurrent commands renew one login, and logout ends it", async () => {
    const before = await scene.data<{ expiresAt: number }>("auth", "status");
    const all = await Promise.all(Array.from({ length: 4 }, () => scene.run("auth", "refresh", "--json")));
    expect(all.map(({ code, stderr }) => [code, stderr])).toEqual(all.map(() => [0, ""]));
    expect((await scene.data<{ expiresAt: number }>("auth", "status")).expiresAt).toBeGreaterThan(before.expiresAt);
    expect((await scene.run("list-terminals")).code).toBe(0);
    const path = scene.sandbox.path("home/.freshell/cli-auth.json");
    const { refreshToken } = JSON.parse(readFileSync(path, "utf8")) as { refreshToken: string };
    expect((await scene.run("auth", "logout")).code).toBe(0);
    const response = await fetch(`${scene.url}/api/device-sessions/refresh`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ refreshToken }),
    });
    expect(response.status).toBe(401);
    expect(await scene.refusal("list-terminals")).toMatchObject({ exitCode: 6, code: "UNAUTHORIZED" });
  });
});
