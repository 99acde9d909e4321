/**
 * Records golden transcripts: plays each scene of `goldenScenes.ts` against a private tmux server, once over `-C` on
 * pipes and once over `-CC` on a pty, and writes one Markdown file per scene. Run by `node test/golden/record.mjs`.
 * Only what changes between runs is replaced: the seconds of the guard lines, the names of clients, a directory.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPipeTransport } from "../../../daemon/host/clients/pipeTransport.ts";
import { openPtyTransport } from "../../../daemon/host/clients/ptyTransport.ts";
import type { Transport } from "../../../daemon/host/clients/transport.ts";
import { nonceCommand } from "../../../daemon/connection/framing.ts";
import { ControlParser } from "../../../protocol/control/parser.ts";
import { EventLog, parseChunks, renderScene, shapesOf, type Mode, type Scene } from "./controlTranscript.ts";
import { GOLDEN_SCENES, type GoldenScene, type Stage } from "./goldenScenes.ts";

const RECORDED_FROM = 1_700_000_000;
const STEP_LIMIT_MS = 5_000;

const ENV = { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", LANG: "C.UTF-8", HOME: "/", SHELL: "/bin/sh" };

/** A program that gives back what it gets, byte for byte; says when its terminal is raw. */
const ECHO = "stty raw -echo; tmux wait-for -S ready; exec cat";

class Recording implements Stage {
  readonly commands: string[] = [];
  readonly directory: string;
  readonly #socket: string;
  readonly #chunks: Buffer[] = [];
  readonly #transport: Transport;
  readonly #shapes: ReturnType<typeof shapesOf> = [];
  readonly #log = new EventLog();
  #unanswered = 0;
  #closed = false;
  #wake: () => void = () => undefined;

  constructor(mode: Mode, directory: string) {
    this.#socket = join(directory, "sock");
    this.directory = join(directory, "home");
    mkdirSync(this.directory);
    this.side("new-session", "-d", "-s", "golden", "-n", "w", "-x", "80", "-y", "60", ECHO);
    this.side("wait-for", "ready");
    const parser = new ControlParser({
      output: (...args) => this.#log.output(...args),
      expect: () => this.#shapes[0],
      block: (block) => {
        if (!block.client) return;
        this.#shapes.shift();
        this.#unanswered -= 1;
      },
      notification: (notification) => this.#log.notification(notification),
    });
    const open = mode === "-CC" ? openPtyTransport : openPipeTransport;
    this.#transport = open({
      tmux: "tmux",
      args: ["-u", "-S", this.#socket, "-f", "/dev/null", "attach-session", "-t", "=golden"],
      env: ENV,
      cwd: "/",
      onData: (chunk) => {
        this.#chunks.push(Buffer.from(chunk));
        parser.push(chunk);
        this.#wake();
      },
      onClose: () => {
        this.#closed = true;
        this.#wake();
      },
    });
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("latin1");
  }

  send(...commands: readonly string[]): void {
    let written = "";
    for (const command of commands) {
      const shapes = shapesOf(command);
      this.commands.push(command);
      this.#shapes.push(...shapes);
      this.#unanswered += shapes.length;
      written += `${command.slice(command.indexOf(" ") + 1)}\n`;
      const [shape] = shapes;
      if (shape?.kind === "foreign") written += `${nonceCommand(shape.nonce, "#{pane_id}")}\n`;
    }
    this.#transport.write(written);
  }

  write(text: string): void {
    this.#transport.write(text);
  }

  side(...args: readonly string[]): string {
    const done = spawnSync("tmux", ["-S", this.#socket, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: ENV,
      cwd: "/",
    });
    if (done.status !== 0) throw new Error(`tmux ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  }

  answered(): Promise<void> {
    return this.#until("the answers", () => this.#unanswered === 0);
  }

  seen(text: string): Promise<void> {
    return this.#until(text, () => this.text.includes(text));
  }

  ended(): Promise<void> {
    return this.#until("the end", () => this.#closed);
  }

  async close(): Promise<void> {
    this.#transport.close();
    spawnSync("tmux", ["-S", this.#socket, "kill-server"], { env: ENV });
    await this.ended();
  }

  async #until(what: string, done: () => boolean): Promise<void> {
    const deadline = performance.now() + STEP_LIMIT_MS;
    while (!done()) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error(`waited for ${what}; tmux said:\n${this.text}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

/** The wire with fixed seconds and client names, up to its last line end. */
function normalise(text: string, ended: boolean, directory: string): Buffer {
  const start = Number(/%begin (\d{10}) /.exec(text)?.[1]);
  const whole = ended ? text : text.slice(0, text.lastIndexOf("\n") + 1);
  const fixed = whole
    .replaceAll(/%(begin|end|error) (\d{10}) /g, (_all, word: string, seconds: string) => {
      return `%${word} ${RECORDED_FROM + Number(seconds) - start} `;
    })
    .replaceAll(directory, "/home/golden")
    .replaceAll(/client-\d+/g, "client-1")
    .replaceAll(/\/dev\/pts\/\d+/g, "/dev/pts/1");
  return Buffer.from(fixed, "latin1");
}

async function record(scene: GoldenScene, mode: Mode): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), "tmuxwire-golden-"));
  const recording = new Recording(mode, directory);
  try {
    await recording.seen("%session-changed");
    await scene.play(recording);
    const wire = normalise(recording.text, scene.ends, recording.directory);
    const { commands } = recording;
    return { mode, commands, wire, events: parseChunks([wire], commands.flatMap(shapesOf)).events };
  } finally {
    await recording.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Records all scenes, or those named, into `directory`. */
export async function recordGolden(directory: string, names: readonly string[]): Promise<void> {
  const version = spawnSync("tmux", ["-V"], { encoding: "utf8" }).stdout.trim();
  for (const scene of GOLDEN_SCENES.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const sections = [];
    for (const mode of ["-C", "-CC"] as const) sections.push(renderScene(await record(scene, mode)));
    const head = [`# ${scene.title}`, `Recorded from ${version} by \`node test/golden/record.mjs ${scene.name}\`.`];
    writeFileSync(join(directory, `${scene.name}.md`), `${[...head, scene.text, ...sections].join("\n\n")}\n`);
  }
}
