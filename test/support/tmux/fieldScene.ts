/**
 * Commands typed in a pane, as a person or a script does, while another pane prints numbered lines: every line is to be
 * seen once, or to be missing inside a declared hole.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OutputSource } from "../../../daemon/tmux/outputSource.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { eventually } from "../clock/eventually.ts";
import { guestFixture, userSession } from "./guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "./ownedFixture.ts";
import { script, text } from "./panePrograms.ts";

type FieldKind = "owned" | "guest";

const LINE_EVERY_MS = 10;
/** A line each 10 ms, with its number. */
const TICKING = script(`let n = 0; setInterval(() => console.log("line " + (n += 1) + ";"), ${LINE_EVERY_MS});`);
const SHELL = ["env", "ENV=", "PS1=$ ", "sh"];

/** What arrived of the numbered lines, across connections. */
class LineLedger {
  readonly #server: TmuxServer;
  readonly #pane: PaneId;
  #carry = "";
  #isAfterHole = true;
  #source: OutputSource | undefined;
  #readSeq = 0;
  readonly #retry: NodeJS.Timeout;
  last = 0;
  lines = 0;
  holes = 0;
  /** Lines that are missing or came twice outside of any hole. */
  readonly faults: string[] = [];
  missing = 0;

  constructor(server: TmuxServer, pane: PaneId) {
    this.#server = server;
    this.#pane = pane;
    this.#follow();
    this.#retry = setInterval(() => this.#follow(), 20);
  }

  close(): void {
    clearInterval(this.#retry);
  }

  #follow(): void {
    if (this.#source !== undefined) return;
    try {
      this.#source = this.#server.output(this.#pane);
    } catch {
      return;
    }
    const source = this.#source;
    // An attach client that carried the pane before has kept what it read then: that was seen.
    this.#readSeq = source.outputSeq;
    const read = (): void => this.#read(source);
    source.subscribe({
      advanced: read,
      gap: read,
      exited: () => undefined,
      closed: () => {
        read();
        this.#hole();
        this.#source = undefined;
      },
    });
    read();
  }

  #read(source: OutputSource): void {
    for (;;) {
      const slice = source.read(this.#readSeq);
      if (slice.kind === "end") return;
      if (slice.kind === "gap") {
        this.#readSeq = slice.gap.to;
        this.#hole();
      } else {
        this.#readSeq = slice.to;
        this.#take(Buffer.from(slice.bytes).toString("latin1"));
      }
    }
  }

  #hole(): void {
    this.#carry = "";
    this.#isAfterHole = true;
    this.holes += 1;
  }

  #take(bytes: string): void {
    const pieces = (this.#carry + bytes).split("\n");
    this.#carry = pieces.pop()!;
    for (const piece of pieces) {
      const number = Number(/^line (\d+);$/.exec(piece)?.[1]);
      // What follows a hole can begin in the middle of a line.
      if (Number.isNaN(number)) {
        if (!this.#isAfterHole) this.faults.push(`${JSON.stringify(piece)} after ${this.last}`);
        continue;
      }
      const isNext = this.#isAfterHole ? number > this.last : number === this.last + 1;
      if (!isNext) this.faults.push(`${number} after ${this.last}`);
      this.missing += Math.max(0, number - this.last - 1);
      this.#isAfterHole = false;
      this.last = number;
      this.lines += 1;
    }
  }
}

export interface FieldScene extends AsyncDisposable {
  readonly kind: FieldKind;
  readonly server: TmuxServer;
  readonly socket: PrivateSocket;
  /** Prints numbered lines. */
  readonly ticking: PaneId;
  readonly typing: PaneId;
  readonly ledger: LineLedger;
  readonly heartbeatMs: number;
  /** What the server logged. */
  readonly log: readonly { readonly event: string; readonly fields: object }[];
  /** Types one line in the pane and resolves with what the shell printed when it has executed it. @throws TmuxCrashed */
  type(line: string): Promise<string>;
  /** Resolves with the milliseconds until output flows and input arrives again. @throws TmuxCrashed */
  flows(): Promise<number>;
}

/** tmux has crashed under what was typed: its panes are gone, and nothing that a row demands can be looked at. */
export class TmuxCrashed extends Error {}

export async function fieldScene(kind: FieldKind, heartbeatMs: number): Promise<FieldScene> {
  const fixture =
    kind === "owned"
      ? await ownedFixture({ heartbeatMs })
      : await guestFixture(
          (socket) => {
            userSession(socket, "ticking", TICKING);
            userSession(socket, "typing", SHELL);
            userSession(socket, "other", ["cat"]);
          },
          { heartbeatMs },
        );
  const { server, socket } = fixture;
  if (kind === "owned") {
    await server.createSession({ name: "ticking", command: TICKING });
    await server.createSession({ name: "typing", command: SHELL });
    await server.createSession({ name: "other", command: ["cat"] });
  }
  const paneOf = (name: string): PaneId => server.findSession(name)!.activePane!;
  const [ticking, typing] = [paneOf("ticking"), paneOf("typing")];
  const ledger = new LineLedger(server, ticking);
  const { identity } = server.status();
  const hasCrashed = (): boolean => {
    const { state, identity: now } = server.status();
    return state === "ready" && now !== identity;
  };
  const whole = (holds: () => boolean | Promise<boolean>): Promise<void> =>
    eventually(() => {
      if (hasCrashed()) throw new TmuxCrashed("tmux is another process than before what was typed");
      return holds();
    });
  let typed = 0;
  const type = async (line: string): Promise<string> => {
    const mark = join(socket.directory, `done${(typed += 1)}`);
    const typedLine = [text(`{ ${line}; } >${mark}.out 2>&1; : >${mark}\n`)];
    await whole(async () => {
      try {
        await server.input(typing, typedLine);
        return true;
      } catch (error) {
        // The command before this one may be what the connection is being made anew for; nothing was typed.
        if (!(error instanceof AppError) || error.details?.["delivery"] === "indeterminate") throw error;
        // Or our client is read-only until the next heartbeat, and tmux says so.
        if (error.code !== "CONNECTION_LOST" && !/client is read-only/.test(error.message)) throw error;
        return false;
      }
    });
    await whole(() => existsSync(mark));
    return readFileSync(`${mark}.out`, "utf8").trim();
  };
  const flows = async (): Promise<number> => {
    const startMs = performance.now();
    await whole(() => server.status().state === "ready" && ledger.lines > 0);
    const from = ledger.lines;
    await whole(() => server.status().state === "ready" && ledger.lines >= from + 10);
    const flowedMs = performance.now() - startMs;
    // On a busy machine the heartbeat that finds a fault may be still to come, and cut this short; twice does no harm.
    await whole(async () => {
      try {
        await type("true");
        return true;
      } catch (error) {
        if (error instanceof AppError && error.details?.["delivery"] === "indeterminate") return false;
        throw error;
      }
    });
    return flowedMs;
  };
  await eventually(() => ledger.lines > 5);
  await type("true");
  return {
    kind,
    server,
    socket,
    ticking,
    typing,
    ledger,
    heartbeatMs,
    log: fixture.log,
    type,
    flows,
    [Symbol.asyncDispose]: async () => {
      ledger.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}
