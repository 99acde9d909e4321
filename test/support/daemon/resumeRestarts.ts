/**
 * Readers that outlive the daemon and tmux. The daemon is the real executable on a port that stays; the pane's terminal is
 * written by the test, so that what was printed is known without asking anybody.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { WebSocket } from "ws";
import { type ClientSocket, createClient, type TmuxwireClient } from "../../../adapters/client/client.ts";
import type { CliSandbox, Running } from "./cliSandbox.ts";
import { eventually } from "../clock/eventually.ts";
import { judgePieces, PieceReader } from "./pieceReader.ts";

/** How it ends: the daemon killed or told to stop, or tmux with everything in it. */
export type Restart = "SIGKILL" | "SIGTERM" | "tmux";

interface RestartsResult {
  readonly restarts: number;
  /** Readers times restarts. */
  readonly resumes: number;
  readonly gaps: number;
  readonly bytes: number;
}

/** Half of the readers have an event stream, the others a WebSocket each. @throws Error at the first fault */
export async function resumeRestarts(
  sandbox: CliSandbox,
  readerCount: number,
  restarts: readonly Restart[],
): Promise<RestartsResult> {
  const scene = await Scene.start(sandbox, readerCount);
  try {
    scene.print();
    await scene.readersAtEnd();
    for (const restart of restarts) {
      await (restart === "tmux" ? scene.restartTmux() : scene.restartDaemon(restart));
      scene.print();
      await scene.readersAtEnd();
    }
    const { readers } = scene;
    judgePieces(readers, scene.printed);
    return {
      restarts: restarts.length,
      resumes: readers.length * restarts.length,
      gaps: readers.reduce((sum, { gaps }) => sum + gaps.length, 0),
      bytes: readers.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  } finally {
    await scene.end();
  }
}

const LINES_PER_PRINT = 20;

class Scene {
  readonly readers: readonly PieceReader[];
  readonly #sandbox: CliSandbox;
  readonly #sockets: (ClientSocket | undefined)[] = [];
  readonly #aborts: readonly AbortController[];
  #daemon: Running;
  readonly #client: TmuxwireClient;
  readonly #port: string;
  #reading: Promise<void>[] = [];
  #tty = -1;
  #restarts = 0;
  #lines = 0;
  #printed = "";

  private constructor(sandbox: CliSandbox, daemon: Running, url: string, readerCount: number) {
    this.#sandbox = sandbox;
    this.#daemon = daemon;
    this.#port = new URL(url).port;
    this.#client = createClient({ url, token: readFileSync(sandbox.tokenPath, "utf8").trim() });
    this.readers = Array.from({ length: readerCount }, () => new PieceReader());
    this.#aborts = this.readers.map(() => new AbortController());
  }

  static async start(sandbox: CliSandbox, readerCount: number): Promise<Scene> {
    const { daemon, url } = await serve(sandbox, "0");
    const scene = new Scene(sandbox, daemon, url, readerCount);
    await scene.#openPane();
    scene.#follow();
    await scene.#met(() => scene.readers.every(({ position }) => position !== ""));
    return scene;
  }

  get printed(): Buffer {
    return Buffer.from(this.#printed, "latin1");
  }

  print(): void {
    for (let count = 0; count < LINES_PER_PRINT; count += 1) {
      this.#lines += 1;
      const line = `line ${this.#lines} ${"=".repeat(this.#lines % 60)};`;
      writeSync(this.#tty, `${line}\n`);
      this.#printed += `${line}\r\n`;
    }
  }

  /** Resolves when every reader has the line printed last. */
  async readersAtEnd(): Promise<void> {
    const last = `line ${this.#lines} `;
    await this.#met(() => this.readers.every(({ tail }) => tail.includes(last) && tail.endsWith(";\r\n")));
  }

  /** Bytes are under way when it ends, and more are printed before it is back. */
  async restartDaemon(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.print();
    this.#daemon.child.kill(signal);
    await this.#daemon.finished;
    this.print();
    this.#daemon = (await serve(this.#sandbox, this.#port)).daemon;
    await this.#caughtUp();
  }

  /** The pane is gone, and each reader is told; then it asks another pane of that name for what comes after its position. */
  async restartTmux(): Promise<void> {
    this.print();
    this.#sandbox.tmux(this.#sandbox.tmuxSocketPath, "kill-server");
    await Promise.all(this.#reading);
    const wrong = this.readers.find(({ closed }) => closed !== "NOT_FOUND");
    if (wrong !== undefined) throw new Error(`a reader's stream ended with ${wrong.closed}`);
    await eventually(async () => (await this.#client.servers()).every(({ state }) => state === "ready"));
    await this.#openPane();
    this.#follow();
    await this.#caughtUp();
  }

  async end(): Promise<void> {
    for (const abort of this.#aborts) abort.abort(new Error("over"));
    for (const socket of this.#sockets) socket?.close();
    await Promise.allSettled(this.#reading);
    closeSync(this.#tty);
  }

  /** The hole is declared and the screen has come: what is printed from here on must reach every reader. */
  async #caughtUp(): Promise<void> {
    this.#restarts += 1;
    await this.#met(() =>
      this.readers.every(({ gaps, snapshots }) => gaps.length === this.#restarts && snapshots === this.#restarts),
    );
  }

  /** Until it holds; the first reader with a fault ends it. */
  async #met(holds: () => boolean): Promise<void> {
    await eventually(() => {
      const fault = this.readers.find((reader) => reader.fault !== undefined)?.fault;
      if (fault !== undefined) throw fault;
      return holds();
    });
  }

  async #openPane(): Promise<void> {
    const server = this.#client.server("main");
    await server.createSession({ name: "pane", command: ["sleep", "100000"] });
    if (this.#tty >= 0) closeSync(this.#tty);
    this.#tty = openSync((await server.pane("pane").info()).tty, "w");
  }

  #follow(): void {
    const pane = this.#client.server("main").pane("pane");
    this.#reading = this.readers.map(async (reader, index) => {
      const options = { signal: this.#aborts[index]!.signal, ...reader.resumeFrom() };
      if (index % 2 === 0) return reader.read(pane.follow(options));
      const socket = (this.#sockets[index] ??= this.#client.openSocket({ WebSocket }));
      return reader.read(socket.follow("main", "pane", options));
    });
  }
}

async function serve(sandbox: CliSandbox, port: string): Promise<{ readonly daemon: Running; readonly url: string }> {
  const daemon = sandbox.start(["serve", "--only", "native", "--port", port]);
  const [, url = ""] = await daemon.line(/native API listening on (http:\S+)/);
  return { daemon, url };
}
