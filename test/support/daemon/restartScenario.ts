/** A daemon killed with -9 in the middle of a flood, and started again, over and over. */
import { DaemonProcess } from "./daemonProcess.ts";
import type { PrivateSocket } from "../tmux/ownedFixture.ts";
import { sinceMs, spread } from "./loadReport.ts";

/** Sessions that are hubs, and hooks that a hub has set. */
function leftovers(socket: PrivateSocket): { readonly hubs: number; readonly hooks: number } {
  const count = (text: string, what: RegExp): number => [...text.matchAll(what)].length;
  return {
    hubs: count(socket.tmux("list-sessions", "-F", "#{session_name}"), /__tmuxwire-/g),
    hooks: count(
      socket.tmux("show-hooks", "-g") + socket.tmux("show-hooks", "-g", "-w"),
      /^(window-linked|pane-died|pane-title-changed)\[/gm,
    ),
  };
}

interface RestartResult {
  readonly cycles: number;
  /** Restarts after which something of this was not as before. */
  readonly programsLost: number;
  readonly operationsFailed: number;
  readonly mostHubs: number;
  readonly mostHooks: number;
  readonly readyAgain: ReturnType<typeof spread>;
}

export async function restarts(socket: PrivateSocket, cycles: number): Promise<RestartResult> {
  let daemon = await DaemonProcess.start(socket.socketPath);
  try {
    const idle = await daemon.create({ name: "idle", command: ["cat"] });
    const flood = await daemon.create({ name: "flood", command: ["sh", "-c", "while :; do echo flooding; done"] });
    const [pane, flooding] = [idle.activePane!, flood.activePane!];
    const programs = (await daemon.state()).panes.map(({ id, pid }) => `${id} ${pid}`).sort();
    const readyMs: number[] = [];
    let [programsLost, operationsFailed, mostHubs, mostHooks] = [0, 0, 0, 0];
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      await daemon.see(flooding, "flooding");
      await daemon.kill();
      const startMs = performance.now();
      daemon = await DaemonProcess.start(socket.socketPath);
      readyMs.push(sinceMs(startMs));
      const { panes } = await daemon.state();
      if (
        panes
          .map(({ id, pid }) => `${id} ${pid}`)
          .sort()
          .join() !== programs.join()
      )
        programsLost += 1;
      await daemon.type(pane, `cycle ${cycle}\n`);
      await daemon.see(pane, `cycle ${cycle}\r\ncycle ${cycle}\r\n`);
      const { lines } = await daemon.capture(pane);
      if (lines.at(-1) !== `cycle ${cycle}`) operationsFailed += 1;
      const left = leftovers(socket);
      mostHubs = Math.max(mostHubs, left.hubs);
      mostHooks = Math.max(mostHooks, left.hooks);
    }
    return { cycles, programsLost, operationsFailed, mostHubs, mostHooks, readyAgain: spread(readyMs) };
  } finally {
    await daemon.kill();
  }
}
