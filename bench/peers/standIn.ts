/**
 * The stand-in for a coding agent (test/fixtures/agents): takes prompts in a box, asks when it is told to, and says what
 * it got. What it says is what arrived, whatever a screen shows.
 */
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { inRepository } from "./peerFiles.ts";

export interface StandInEntry {
  readonly event: string;
  readonly atUnixMs: number;
  readonly text?: string;
}

export class StandIn implements AsyncDisposable {
  readonly log: StandInEntry[] = [];
  readonly #server: Server;
  readonly #socketPath: string;
  #program: Socket | undefined;
  #commands = 0;
  #wake: () => void = () => undefined;

  private constructor(directory: string) {
    this.#socketPath = join(directory, "agent.sock");
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async open(directory: string): Promise<StandIn> {
    const standIn = new StandIn(directory);
    await new Promise<void>((resolve) => standIn.#server.listen(standIn.#socketPath, resolve));
    return standIn;
  }

  /** What starts it, typed into a shell. */
  get line(): string {
    const file = inRepository("test/fixtures/agents/dialog.mjs");
    return `${process.execPath} ${file} --control ${this.#socketPath} --busyMs 150`;
  }

  get isRunning(): boolean {
    return this.#program !== undefined;
  }

  tell(command: "ask" | "exit" | "reset"): void {
    this.#commands += 1;
    this.#program?.write(`${JSON.stringify({ id: this.#commands, command })}\n`);
  }

  /** Whether it came to that within this time. */
  async within(ms: number, holds: () => boolean): Promise<boolean> {
    const giveUp = AbortSignal.timeout(ms);
    giveUp.addEventListener("abort", () => this.#wake());
    while (!holds()) {
      if (giveUp.aborted) return false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return true;
  }

  has(event: string, from: number): boolean {
    return this.log.slice(from).some((entry) => entry.event === event);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program?.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    this.#program = socket;
    let carry = "";
    socket.setEncoding("utf8");
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (this.#program === socket) this.#program = undefined;
      this.#wake();
    });
    socket.on("data", (chunk: string) => {
      const lines = (carry + chunk).split("\n");
      carry = lines.pop() ?? "";
      for (const line of lines) this.log.push(JSON.parse(line) as StandInEntry);
      this.#wake();
    });
  }
}
