/** The compiled engine in a process of its own, to be killed. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { PaneInfo, ServerStatus, SessionInfo } from "../../../daemon/tmux/inventory.ts";
import type { Capture } from "../../../daemon/tmux/io.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { daemonChild } from "./cliBuild.ts";

interface DaemonState extends ServerStatus {
  readonly sessions: readonly SessionInfo[];
  readonly panes: readonly PaneInfo[];
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

export class DaemonProcess implements AsyncDisposable {
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
