/**
 * A command line that owns its layout for the moment is killed at each step of each hybrid: its layout is as before or as
 * after, the next command is the device again, and no terminal is without a trace (F089–F092, docs/contracts/freshell.md).
 */
import { expect, test } from "vitest";
import type { DeviceEntry, DeviceLayoutResponse } from "../../protocol/api/freshell/rpc.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { FRESHELL_TOKEN } from "../support/daemon/freshellFixture.ts";
import { auditOf, HYBRIDS, notePlain, requireWhole, serve, terminalsIn } from "../support/freshell/hybridKills.ts";
import { WatchedWay } from "../support/freshell/watchedWay.ts";

/** Where it is killed: before it hears, behind its response, before it hears the end, with the end saved and told to nobody. */
const MOMENTS = ["reserve", "act", "finalize", "finalized"] as const;

test.each(HYBRIDS)("the command line that is the owner is killed at each step of %s", async (hybrid) => {
  await using sandbox = cliSandbox();
  const daemon = await serve(sandbox);
  await using way = await WatchedWay.to(daemon.url);
  const start = (url: string, args: readonly string[]): Running =>
    sandbox.start([...args, "--json"], { script: "freshell.js", env: { FRESHELL_URL: url, FRESHELL_TOKEN } });
  const run = async (...args: readonly string[]): Promise<Record<string, string>> => {
    const { code, stdout, stderr } = await start(daemon.url, args).finished;
    expect([args, code, stderr]).toEqual([args, 0, ""]);
    return (JSON.parse(stdout) as { data: Record<string, string> }).data;
  };
  const { paneId = "" } = await run("new-tab");
  const [{ deviceId }] = (await daemon.call("GET", "/api/devices")).json as unknown as [DeviceEntry];
  /** As the last command has published it: whoever changes or reads its own layout is the device. */
  const layout = async (): Promise<DeviceLayoutResponse> => {
    const path = `/api/devices/${deviceId}/layout?allowStale=1`;
    return (await daemon.call("GET", path)).json as unknown as DeviceLayoutResponse;
  };
  const lineOf = async (): Promise<readonly string[]> => {
    if (hybrid === "respawn-pane") return [hybrid, "--target", `pane:${paneId}`];
    if (hybrid === "split-pane") return [hybrid, "--target", `pane:${paneId}`, "--direction", "horizontal", "--shell"];
    const { json } = await daemon.call("POST", "/api/terminals", { shell: "/bin/sh" });
    return [hybrid, "--target", `terminal:${String(json["terminalId"])}`, "--to", `pane:${paneId}`];
  };
  let before = await layout();
  for (const moment of MOMENTS) {
    const what = `${hybrid} ${moment}`;
    const line = await lineOf();
    await notePlain(daemon);
    let requestId = "";
    const phases = new Map<string, string>();
    const killed = new Promise<void>((resolve) => {
      const kill = (): boolean => {
        running.child.kill("SIGKILL");
        resolve();
        return false;
      };
      way.watch = (from, frame) => {
        if (from === "server" && frame.type === "layout.rpc.request") {
          phases.set(frame.requestId ?? "", frame.phase ?? "");
          // The first frame of a request has its id.
          if (requestId === "") requestId = frame.requestId ?? "";
          return frame.phase === moment ? kill() : true;
        }
        if (from !== "client" || frame.type !== "layout.rpc.result") return true;
        const phase = phases.get(frame.requestId ?? "");
        if (moment === "finalized" && phase === "finalize") return kill();
        if (moment === "act" && phase === "reserve") setImmediate(kill);
        return true;
      };
    });
    const running = start(way.url, line);
    await killed;
    expect([what, (await running.finished).code]).toEqual([what, null]);
    way.watch = () => true;
    const lines = (): readonly string[] =>
      auditOf(sandbox).flatMap((one) => (one.requestId === requestId ? [one.result] : []));
    await eventually(() => lines().length > 0);
    expect([what, requestId === "", lines()]).toEqual([what, false, ["error"]]);
    await run("list-panes");
    const after = await layout();
    const isDone = moment === "finalized";
    expect([what, after.workspaceRevision]).toEqual([what, before.workspaceRevision + (isDone ? 1 : 0)]);
    if (!isDone) expect([what, after.snapshot]).toEqual([what, before.snapshot]);
    await requireWhole(sandbox, daemon, terminalsIn(after), what);
    // Nothing is held: the place, the lock, the device.
    await run(...line);
    const again = await layout();
    expect([what, again.workspaceRevision]).toEqual([what, after.workspaceRevision + 1]);
    await requireWhole(sandbox, daemon, terminalsIn(again), what);
    before = again;
  }
});
