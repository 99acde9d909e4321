/** Scenes for the dashboard's figures: many agents on a user's server, and what the daemon's process costs. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { PaneId } from "../../../protocol/ids.ts";
import { type DashboardFixture, EventReader } from "./dashboardFixture.ts";
import { eventually } from "../clock/eventually.ts";
import { callJson } from "./nativeServer.ts";
import { costOf } from "./processCost.ts";

/** One agent's uuid from its number. */
const uuidOf = (agent: number): string => `00000000-0000-4000-8000-${String(agent).padStart(12, "0")}`;

/** Registers one agent per pane; ids in the order of the panes. */
export async function registerAll(url: string, panes: readonly PaneId[]): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const [agent, pane] of panes.entries()) {
    const body = { session_uuid: uuidOf(agent), project_path: `/work/p${agent % 10}`, tmux_pane_id: pane };
    const { json } = await callJson(url, "POST", "/api/sessions", body, {});
    ids.push(Number(json["agent_id"]));
  }
  return ids;
}

/** Resolves once all of these can be answered. */
export async function untilAvailable(url: string, ids: readonly number[]): Promise<EventReader> {
  const events = await EventReader.open(`${url}/api/events/stream?types=commander_availability&last_event_id=0`);
  const { json } = await callJson(url, "GET", "/api/agents", undefined, {});
  const missing = new Set(ids);
  for (const card of json["agents"] as Record<string, unknown>[]) {
    if (card["is_bridge_connected"] === true) missing.delete(Number(card["agent_id"]));
  }
  await events.until(() => {
    for (const { data } of events.events) if (data["available"] === true) missing.delete(Number(data["agent_id"]));
    return missing.size === 0;
  });
  return events;
}

/** A session is attached to by a client of its own, one after the other: resolves when none has come for three seconds. */
export async function untilAttached(pid: number): Promise<void> {
  let [clients, sinceMs] = [-1, 0];
  await eventually(async () => {
    await delay(100);
    const { children } = costOf(pid);
    if (children !== clients) [clients, sinceMs] = [children, performance.now()];
    return performance.now() - sinceMs > 3_000;
  });
}

/** Programs started by a process and what it starts, for as long as `during` takes; undefined without strace. */
export async function countStarts(pid: number, during: () => Promise<void>): Promise<number | undefined> {
  if (spawnSync("strace", ["-V"]).status !== 0) {
    await during();
    return undefined;
  }
  const strace = spawn("strace", ["-f", "-q", "-e", "trace=execve,execveat", "-p", String(pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let traced = "";
  strace.stderr.on("data", (chunk: Buffer) => {
    traced += chunk.toString("latin1");
  });
  await during();
  const ended = once(strace, "exit");
  strace.kill("SIGINT");
  await ended;
  return traced.split("\n").filter((line) => /execve(?:at)?\(/.test(line)).length;
}

/** Sends each of these to an agent whose session is `s1`, one after the other; the milliseconds each answer took. */
export async function timeHooks(
  dashboard: DashboardFixture,
  hooks: readonly (readonly [name: string, body: object])[],
): Promise<readonly number[]> {
  const took: number[] = [];
  for (const [name, body] of hooks) {
    const startedMs = performance.now();
    const { status } = await dashboard.hook(name, { session_id: "s1", ...body });
    took.push(performance.now() - startedMs);
    if (status !== 200) throw new Error(`${name}: ${status}`);
  }
  return took;
}
