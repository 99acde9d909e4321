/** Which process an agent is, while its pane's processes are still being asked for: tmux takes its time under load. */
import { uptime } from "node:os";
import { spawn as spawnPty } from "@homebridge/node-pty-prebuilt-multiarch";
import { expect, test } from "vitest";
import { localHost } from "../../daemon/host/localHost.ts";
import { procfs } from "../../daemon/host/procfs.ts";
import type { ForegroundProcess } from "../../daemon/tmux/processes.ts";
import type { DashboardEvent } from "../support/daemon/dashboardFixture.ts";
import { DashboardScene } from "../support/daemon/dashboardScene.ts";
import { eventually } from "../support/clock/eventually.ts";
import { AppError } from "../../protocol/errors.ts";

/** A program that reads from a terminal of its own until it is ended. */
async function program() {
  const pty = spawnPty("cat", [], {});
  const ended = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  const { pid } = pty;
  // Until then it is the process that started it, under another name.
  await eventually(() => procfs().executableNow(pid) !== procfs().executableNow(process.pid));
  const { start } = (await procfs().stat(pid))!;
  // The kernel counts a start in hundredths of a second: what tells in the same one may be another program.
  await eventually(() => Math.floor(uptime() * 100) > Number(start));
  const found: ForegroundProcess = {
    pid,
    start,
    executable: procfs().executableNow(pid),
    names: ["claude"],
    isInteractiveShell: false,
    isShell: false,
    depth: 0,
  };
  const end = async (): Promise<void> => {
    pty.kill("SIGKILL");
    await ended;
  };
  return { process: found, end, [Symbol.asyncDispose]: end };
}

/** Asking in its pane, then at an end; who reads from the pane after that is the test's to say, when it likes. */
async function endedScene() {
  const before = await program();
  const scene = await DashboardScene.start();
  Object.assign(scene.server, { processes: localHost().processes });
  let there: Promise<readonly ForegroundProcess[]> = Promise.resolve([before.process]);
  scene.server.foreground = async () => ({ pid: before.process.pid, command: "claude", processes: await there });
  const events = await scene.dashboard.events();
  const agentId = await scene.working();
  await scene.notify();
  await before.end();
  scene.shows("unknown");
  const isEnd = ({ data }: DashboardEvent): boolean => data["event_type"] === "process_ended";
  await events.next(isEnd);
  const from = events.events.length;
  return {
    scene,
    agentId,
    ends: () => events.events.slice(from).filter(isEnd).length,
    nextEnd: () => events.next(isEnd, from),
    reads: (processes: typeof there) => void (there = processes),
    [Symbol.asyncDispose]: async () => {
      await scene[Symbol.asyncDispose]();
      await before.end();
    },
  };
}

test("the turn of a new program in a pane does not end with the program before, however late its process is known", async () => {
  await using ended = await endedScene();
  await using after = await program();
  const { scene, agentId } = ended;
  let known = (_processes: readonly ForegroundProcess[]): void => undefined;
  ended.reads(new Promise((resolve) => (known = resolve)));
  await scene.hook("session-start", { source: "startup" });
  await scene.prompt("go");
  await scene.notify();
  // Each change of the screen is a reason to look who is there.
  scene.shows("idle");
  expect(await scene.card(agentId)).toMatchObject({ state: "AWAITING_INPUT" });
  known([after.process]);
  expect((await scene.dashboard.respond(agentId, { text: "for the new one" })).status).toBe(200);
  expect(scene.submitted.at(-1)?.addressee?.process).toMatchObject({ pid: after.process.pid });
  expect(ended.ends()).toBe(0);
});

test("a program's turn ends if its process is gone when it is looked up after a hook", async () => {
  await using ended = await endedScene();
  ended.reads(Promise.resolve([]));
  await ended.scene.prompt("once more");
  await ended.nextEnd();
  expect(await ended.scene.card(ended.agentId)).toMatchObject({ state: "COMPLETE" });
});

/** Its agent tells before tmux does: the pane is listed, and its process asked for, when the test says so. */
async function tellsFirst() {
  const before = await program();
  const scene = await DashboardScene.start();
  const { server } = scene;
  Object.assign(server, { processes: localHost().processes });
  let reader = before.process;
  let isListed = false;
  const findPane = server.findPane.bind(server);
  server.findPane = (pane) => (isListed ? findPane(pane) : undefined);
  server.foreground = async (pane) => {
    if (!isListed) throw new AppError("NOT_FOUND", `no pane ${pane}`);
    return { pid: reader.pid, command: "claude", processes: [reader] };
  };
  const agentId = await scene.register();
  for (const name of ["session-start", "user-prompt-submit"]) await scene.hook(name, { tmux_pane: scene.pane });
  await scene.notify();
  return {
    scene,
    agentId,
    before,
    /** The pane, in which this program reads by now. */
    isListed: (process = reader) => {
      reader = process;
      isListed = true;
    },
    [Symbol.asyncDispose]: async () => {
      await scene[Symbol.asyncDispose]();
      await before.end();
    },
  };
}

test("an agent that reports its pane before tmux does is looked up once the pane is listed", async () => {
  await using told = await tellsFirst();
  const { scene, agentId, before } = told;
  told.isListed();
  await eventually(async () => (await scene.card(agentId))?.["is_bridge_connected"] === true);
  expect((await scene.dashboard.respond(agentId, { text: "an answer" })).status).toBe(200);
  expect(scene.submitted.at(-1)?.addressee?.process).toMatchObject({ pid: before.process.pid });
});

test("a program that started between an agent's hook and its pane's listing is not taken for the agent, which has ended", async () => {
  await using told = await tellsFirst();
  const { scene, agentId, before } = told;
  await before.end();
  const endedSec = uptime();
  // The kernel counts a start in hundredths of a second.
  await eventually(() => uptime() > endedSec + 0.05);
  await using after = await program();
  told.isListed(after.process);
  await eventually(async () => (await scene.card(agentId))?.["state"] === "COMPLETE");
  expect((await scene.dashboard.respond(agentId, { text: "an answer" })).status).toBe(409);
  expect(scene.submitted).toEqual([]);
});

test("keys after the program's end are not pressed", async () => {
  await using agent = await program();
  await using scene = await DashboardScene.start();
  Object.assign(scene.server, { processes: localHost().processes });
  scene.server.foreground = async () => ({ pid: agent.process.pid, command: "claude", processes: [agent.process] });
  const typed: string[] = [];
  const input = scene.server.input.bind(scene.server);
  scene.server.input = async (pane, parts, options) => {
    const receipt = await input(pane, parts, options);
    typed.push(...parts.flatMap((part) => (part.kind === "keys" ? part.keys : [])));
    if (typed.length === 1) await agent.end();
    return receipt;
  };
  const agentId = await scene.register();
  const { status, json } = await scene.dashboard.respond(agentId, { mode: "keys", keys: ["Down", "Enter"] });
  expect({ ...json, status }).toMatchObject({ status: 409, reason: "program_changed", text_written: true });
  expect(typed).toEqual(["Down"]);
});
