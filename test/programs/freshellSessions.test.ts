/** Sessions with the built daemon and command line: made, talked to, waited for; and gone when the daemon goes. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FreshellWaitResponse } from "../../protocol/api/freshell/freshellHttp.ts";
import type { SessionEntry } from "../../protocol/api/freshell/sessionEvents.ts";
import { eventually } from "../support/clock/eventually.ts";
import { isAlive } from "../support/daemon/isAlive.ts";
import { FAKE_CLAUDE, FAKE_CODEX } from "../support/freshell/agentScene.ts";
import { AUTH_TOKEN, type FreshellScene, freshellScene } from "../support/freshell/freshellScene.ts";

const AGENTS = { CLAUDE_CMD: FAKE_CLAUDE, CODEX_CMD: FAKE_CODEX };

let scene: FreshellScene;
const startWith = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
  scene = await freshellScene({ ...AGENTS, ...env });
};
afterEach(() => scene[Symbol.asyncDispose]());

describe("the command line", () => {
  beforeEach(() => startWith());

  test("F140 F147 F148 F149 F150 F151 an sdk session from its beginning to its end", async () => {
    const made = await scene.run("session-create", "--provider", "sdk", "--cwd", "/");
    const [, target = ""] = /^(session:sdk:\S+)\n$/.exec(made.stdout) ?? [];
    const waiting = scene.data<FreshellWaitResponse>(
      "session-wait",
      "--target",
      target,
      "--regex",
      "-p",
      "^\\$ Bash$",
      "-T",
      "60",
    );
    await eventually(async () => (await metric("wait_active")) === 1);
    await scene.data("session-send", "--target", target, "tool", "ls");
    expect((await waiting).matched).toMatchObject([{ predicate: "pattern", text: "$ Bash" }]);
    await scene.data("wait-for", "--target", target, "-p", "ran ls", "--from", "tail:9", "--stable", "0.05");
    const [entry] = await scene.data<readonly SessionEntry[]>("session-list", "--provider", "sdk");
    expect(entry).toMatchObject({ provider: "sdk", status: "idle", cwd: "/", model: "fake-model" });
    expect((await scene.run("session-list")).stdout).toMatch(
      /^SESSION +PROGRAM +STATUS.*\nsession:sdk:\S+ +claude +idle/,
    );
    expect(await scene.data("session-kill", "--target", target)).toEqual({ ok: true, exitCode: 143 });
    expect(isAlive(entry!.pid!)).toBe(false);
    expect((await scene.data<FreshellWaitResponse>("session-wait", "--target", target, "--exit")).exitCode).toBe(143);
    expect(await scene.refusal("session-send", "--target", target, "x")).toMatchObject({ code: "INVALID_TARGET" });
    expect(await scene.refusal("session-wait", "--target", "session:sdk:nobody", "--exit")).toMatchObject({
      exitCode: 3,
    });
  });
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "a daemon that ends by %s leaves no agent, nor what it has started",
  async (signal) => {
    // Neither a closed input nor SIGTERM ends it.
    await startWith({ FAKE_AGENT_STAYS: "1" });
    const { sessionId, pid } = await scene.data<SessionEntry>("session-create", "--provider", "sdk");
    const target = `session:sdk:${sessionId}`;
    await scene.data("session-send", "--target", target, "spin");
    const asked = ["session-wait", "--target", target, "--regex", "-p", "spun \\d+$", "--from", "tail:9"];
    const { matched } = await scene.data<FreshellWaitResponse>(...asked);
    const child = Number(matched[0]!.text!.split(" ")[1]);
    expect([isAlive(pid!), isAlive(child)]).toEqual([true, true]);
    process.kill(scene.daemon.pid, signal);
    await scene.daemon.finished;
    await eventually(() => !isAlive(pid!) && !isAlive(child));
  },
);

async function metric(name: string): Promise<number> {
  const response = await fetch(`${scene.url}/api/metrics`, { headers: { "x-auth-token": AUTH_TOKEN } });
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(await response.text())?.[1]);
}
