/**
 * The race of `agentsRace.ts` as it is with the hooks installed: the agent tells by its hook that it is about to ask, and
 * opens the dialog as soon as the hook has ended, which is sooner than Claude Code was seen to (docs/agentFacts.md 10). An
 * Enter before that is read by a program that has no dialog yet, and after it none is pressed. The answer comes over the
 * dashboard's HTTP, the hook is the installed script.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../daemon/time/clock.ts";
import { type AgentName, guestAgent } from "./agentPrograms.ts";
import { LATEST_MS, type Moment, momentOf, RACE_TEXTS } from "./agentsRace.ts";
import { type DashboardFixture, dashboardFixture, UUID } from "../daemon/dashboardFixture.ts";
import { eventually } from "../clock/eventually.ts";
import { hookCommand, runHook } from "./hookCommand.ts";
import { callJson } from "../daemon/nativeServer.ts";

interface HookedRaceFigures {
  readonly tries: number;
  /** The tool ran without anybody having approved it: what must never happen. */
  readonly accidents: number;
  /** Keys of ours that reached an open dialog, by key. */
  readonly strayKeys: Readonly<Record<string, number>>;
  /** When the dialog opened: relative to what the program had read by then. */
  readonly opened: Readonly<Record<Moment, number>>;
  /** What whoever answered was told, by that moment. */
  readonly told: Readonly<Record<string, number>>;
}

export async function hookedRace(program: AgentName, tries: number, random: () => number): Promise<HookedRaceFigures> {
  const home = mkdtempSync(join(tmpdir(), "tw-hooked-"));
  await using agent = await guestAgent(program, { options: { busyMs: 0 } });
  await using dashboard = await dashboardFixture(agent.server);
  const { channel } = agent;
  const opened = { beforePaste: 0, beforeEnter: 0, afterEnter: 0, never: 0 };
  const told: Record<string, number> = {};
  const strayKeys: Record<string, number> = {};
  let accidents = 0;
  try {
    const env = { PATH: process.env["PATH"] ?? "", HOME: home };
    const command = await hookCommand(home, "PermissionRequest", dashboard.url);
    const session = { session_uuid: UUID, project_path: "/p", tmux_pane_id: agent.pane };
    await callJson(dashboard.url, "POST", "/api/sessions", session, {});
    await dashboard.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
    for (let at = 0; at < tries; at += 1) {
      await channel.tell("reset");
      await dashboard.hook("user-prompt-submit", { session_id: "s1", prompt: `before ${at}` });
      await dashboard.hook("notification", { session_id: "s1", message: "Claude is waiting for your input" });
      // The last try's dialog has left the screen, and the dashboard knows.
      await eventually(async () => (await readinessOf(dashboard)) === "idle");
      const from = channel.log.length;
      const text = `${RACE_TEXTS[Math.floor(random() * RACE_TEXTS.length)]!}${random() < 0.5 ? "" : ` #${at}`}`;
      const event = JSON.stringify({
        session_id: "s1",
        hook_event_name: "PermissionRequest",
        tool_name: "Bash",
        tool_input: { command: `step ${at}` },
      });
      const asked = new Promise((resolve, reject) => {
        systemClock.callAt(systemClock.nowMs() + random() * LATEST_MS, () => {
          runHook("/bin/sh", command, event, env)
            .then(({ code, output }) => {
              if (code !== 0 || output !== "") throw new Error(`the hook ended with ${code}: ${output}`);
              return channel.tell("ask", { kind: "permission" });
            })
            .then(resolve, reject);
        });
      });
      const [{ status, json }] = await Promise.all([dashboard.respond(1, { text }), asked]);
      // Everything the program was sent has been read when this has come back.
      await channel.tell("say", { text: "~" });
      const log = channel.log.slice(from);
      const dialog = log.findIndex(({ event: name }) => name === "dialog");
      const moment = momentOf(log, dialog);
      opened[moment] += 1;
      const name = `${moment}: ${status} ${String(json["delivery"] ?? json["error_type"])}`;
      told[name] = (told[name] ?? 0) + 1;
      for (const { event: what, key } of log) {
        if (what === "tool") accidents += 1;
        if (what === "key") strayKeys[String(key)] = (strayKeys[String(key)] ?? 0) + 1;
      }
    }
  } finally {
    rmSync(home, { recursive: true });
  }
  return { tries, accidents, strayKeys, opened, told };
}

async function readinessOf(dashboard: DashboardFixture): Promise<string | undefined> {
  const { json } = await dashboard.call("GET", "/api/agents");
  const [card] = json["agents"] as { readonly readiness: { readonly state: string } | null }[];
  return card?.readiness?.state;
}
