/** A daemon killed with -9 in the middle of a flood, and started again, over and over. */
import type { PrivateSocket } from "../tmux/ownedFixture.ts";
import { sinceMs, spread } from "./loadReport.ts";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { PaneInfo, ServerStatus, SessionInfo } from "../../../daemon/tmux/inventory.ts";
import type { Capture } from "../../../daemon/tmux/io.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { daemonChild } from "./cliBuild.ts";

/** The compiled engine in a process of its own, to be killed. */
interface DaemonState extends ServerStatus {
  readonly sessions: readonly SessionInfo[];
  readonly panes: readonly PaneInfo[];
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

class DaemonProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #calls = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (message) => {
      const answer = message as Answer;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  /** @throws Error `CODE message` when it does not start. */
  static async start(socketPath: string): Promise<DaemonProcess> {
    const child = fork(daemonChild(), [socketPath], { execArgv: [] });
    const daemon = new DaemonProcess(child);
    await daemon.#answer(0);
    return daemon;
  }

  state(): Promise<DaemonState> {
    return this.#call("state") as Promise<DaemonState>;
  }

  create(request: { readonly name: string; readonly command: readonly string[] }): Promise<SessionInfo> {
    return this.#call("create", request) as Promise<SessionInfo>;
  }

  async type(pane: PaneId, text: string): Promise<void> {
    await this.#call("type", pane, text);
  }

  capture(pane: PaneId): Promise<Capture> {
    return this.#call("capture", pane) as Promise<Capture>;
  }

  async see(pane: PaneId, text: string): Promise<void> {
    await this.#call("see", pane, text);
  }

  /** As the kernel's out-of-memory killer would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #call(call: string, ...args: readonly unknown[]): Promise<unknown> {
    const id = (this.#calls += 1);
    const answer = this.#answer(id);
    this.#child.send({ id, call, args });
    return answer;
  }

  #answer(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ value, error }) => {
        if (error === undefined) resolve(value);
        else reject(new Error(`${error.code} ${error.message}`));
      });
    });
  }
}

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
