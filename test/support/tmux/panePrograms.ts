/**
 * Programs for panes under test. Each switches its terminal to raw mode, so that bytes pass unchanged both ways, says
 * `ready;` when it has, and stays alive: a program that ends may lose the end of its output (docs/tmuxFacts.md 15).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OutputSource } from "../../../daemon/tmux/outputSource.ts";
import type { SessionInfo } from "../../../daemon/tmux/inventory.ts";
import type { InputPart } from "../../../daemon/tmux/io.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { DEAF, seen } from "./output.ts";

export interface Program {
  readonly session: SessionInfo;
  readonly pane: PaneId;
  readonly source: OutputSource;
  /** Where the program's output after `ready;` begins. */
  readonly startSeq: number;
}

/** A session that runs `command`, once it has said `ready;`. */
export async function startProgram(
  server: TmuxServer,
  name: string,
  command: readonly string[],
  more: { readonly cols?: number; readonly rows?: number; readonly cwd?: string } = {},
): Promise<Program> {
  const session = await server.createSession({ name, command, ...more });
  const pane = session.activePane;
  if (pane === undefined) throw new Error("no pane");
  const source = server.output(pane);
  const start = await seen(source, 0, "ready;");
  return { session, pane, source, startSeq: start.indexOf("ready;") + "ready;".length };
}

/** A program in JavaScript on a raw terminal; `fs` is there. */
export const script = (body: string): readonly string[] => [
  "sh",
  "-c",
  'stty raw -echo; exec "$0" -e "$1"',
  process.execPath,
  `const fs = require("fs"); ${body}`,
];

/** Waits for one byte, writes the file to its terminal, and stays. */
export const emitFile = (path: string): readonly string[] => [
  "sh",
  "-c",
  `stty raw -echo; printf 'ready;'; dd bs=1 count=1 >/dev/null 2>&1; cat "$0"; exec cat >/dev/null`,
  path,
];

export const text = (bytes: string | Uint8Array): InputPart => ({
  kind: "text",
  bytes: typeof bytes === "string" ? Buffer.from(bytes) : bytes,
});

export const keys = (...names: readonly string[]): InputPart => ({ kind: "keys", keys: names });

/** A pane whose program writes down every byte it is given, and tells how many there were. */
export class ByteSink {
  readonly program: Program;
  readonly #file: string;

  private constructor(program: Program, file: string) {
    this.program = program;
    this.#file = file;
  }

  /** @param greeting written before `ready;`, for instance a mode switch. */
  static async start(server: TmuxServer, directory: string, name: string, greeting = ""): Promise<ByteSink> {
    const file = join(directory, `${name}.bytes`);
    const body =
      `const out = fs.openSync(${JSON.stringify(file)}, "w"); let n = 0;` +
      `process.stdin.on("data", (d) => { fs.writeSync(out, d); n += d.length; process.stdout.write("got " + n + ";"); });` +
      `process.stdout.write(${JSON.stringify(greeting)} + "ready;");`;
    return new ByteSink(await startProgram(server, name, script(body)), file);
  }

  get pane(): PaneId {
    return this.program.pane;
  }

  /** Everything received, as soon as it is at least `bytes` long. */
  async received(bytes: number): Promise<Buffer> {
    const { source, startSeq } = this.program;
    await new Promise<void>((resolve) => {
      let tail = "";
      let at = Math.max(startSeq, source.tailSeq);
      let unsubscribe = (): void => undefined;
      const readOn = (): void => {
        for (;;) {
          const slice = source.read(at);
          if (slice.kind === "end") break;
          at = slice.kind === "gap" ? slice.gap.to : slice.to;
          if (slice.kind === "bytes") tail = (tail + Buffer.from(slice.bytes).toString("latin1")).slice(-4_096);
        }
        const last = [...tail.matchAll(/got (\d+);/g)].at(-1)?.[1];
        if (last === undefined || Number(last) < bytes) return;
        unsubscribe();
        resolve();
      };
      unsubscribe = source.subscribe({ ...DEAF, advanced: readOn, gap: readOn });
      readOn();
    });
    return readFileSync(this.#file);
  }
}
