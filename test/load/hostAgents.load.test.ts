/**
 * Prompts to the agents that people run, offline, on another machine behind a real sshd, while the connection is cut: each once,
 * and nothing untrue. The kit's fake model has the truth. Needs AGENT_KIT and TUI_INST; REAL_AGENTS=cc,codex runs those alone.
 * `PROMPTS=100 npm run load -- hostAgents --testTimeout=3600000`
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createClient, TmuxwireError } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { seeded } from "../support/agents/agentsEngines.ts";
import { realAgents, realWorld } from "../support/agents/realAgents.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report } from "../support/daemon/loadReport.ts";
import { sshHost, sshClients } from "../support/daemon/sshHost.ts";

const PROMPTS = Number(process.env["PROMPTS"] ?? 10);
const SEED = Number(process.env["REAL_SEED"] ?? 5);
const programs = realAgents();

function isLost(error: unknown): false {
  if (error instanceof TmuxwireError && error.code === "DAEMON_UNREACHABLE") return false;
  throw error;
}

describe.skipIf(programs.length === 0).each(programs.length === 0 ? (["cc"] as const) : programs)("%s", (program) => {
  test("prompts through a connection that is cut: each once, and nothing untrue", async () => {
    const random = seeded(SEED);
    await using world = await realWorld(program);
    await using host = await sshHost();
    await using here = cliSandbox();
    await world.start();
    await world.settled();
    const far = await host.sandbox.serve([], { env: { TMUXWIRE_SERVERS: `real=${world.socket.socketPath}` } });
    await here.serve();
    const added = await here.run(["hosts", "add", "build", "build", "--ssh-config", host.configFile]);
    expect([added.code, added.stderr]).toEqual([0, ""]);
    const token = readFileSync(here.tokenPath, "utf8").trim();
    const client = createClient({ url: "http://localhost", token, fetch: unixFetch(here.socketPath) });
    const pane = client.server("real@build").pane(world.pane);
    const outcomes: { readonly mark: string; readonly outcome: string }[] = [];
    let cuts = 0;
    for (let at = 0; at < PROMPTS; at += 1) {
      const mark = `M${at}x${Math.floor(random() * 1e6).toString(36)}`;
      // What only waits may be asked for again.
      while (!(await pane.wait({ ready: "idle", timeoutMs: 60_000 }).then(() => true, isLost)));
      const submitted = pane.submit(`say ${mark} back`, { timeoutMs: 60_000 }).then(
        ({ outcome }) => outcome,
        (error: unknown) => (error instanceof TmuxwireError ? error.code : String(error)),
      );
      if (at % 2 === 0) {
        await delay(random() * 600);
        for (const pid of sshClients(here.root)) process.kill(pid, "SIGKILL");
        cuts += 1;
      }
      outcomes.push({ mark, outcome: await submitted });
    }
    await world.settled();
    const times = (mark: string): number =>
      world.asked().filter(({ text, afterTool }) => !afterTool && text.includes(mark)).length;
    const counts: Record<string, number> = {};
    for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
    const untrue = outcomes.filter(({ mark, outcome }) => outcome === "submitted" && times(mark) !== 1);
    const twice = outcomes.filter(({ mark }) => times(mark) > 1);
    report("hostAgents", { program, prompts: PROMPTS, cuts, counts, untrue: untrue.length, twice: twice.length });
    expect([untrue, twice]).toEqual([[], []]);
    expect(counts["submitted"]).toBeGreaterThan(PROMPTS / 2);
    far.child.kill("SIGTERM");
    await far.finished;
  });
});
