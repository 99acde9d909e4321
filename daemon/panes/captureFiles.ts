/**
 * Long captures through a file: for an attached client, tmux itself writes a paste buffer to a file (`file_write` in
 * tmux's file.c), in a third of the time that the same text takes as a reply, and nobody else waits for it meanwhile. The
 * file is in the machine's memory and in a folder of ours alone, and lives as long as the question. Used for owned servers
 * only: in a server of a user, other clients are told of paste buffers.
 */
import { chmodSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bufferSize, deleteBuffer, saveBuffer } from "../../protocol/command/build.ts";
import { MAX_REPLY_BYTES } from "../../protocol/limits.ts";
import type { Reply } from "../connection/commandQueue.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import { createNonce } from "../connection/framing.ts";
import { attempt } from "../host/attempt.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";
import { makeOwnDirectory } from "../ops/privateFiles.ts";

const NAME = /^tmuxwire-(\d{1,9})-[0-9A-Za-z]+-\d+$/;
const LINE_FEED = 10;
const utf8 = new TextDecoder();

export class CaptureFiles {
  readonly #folder: string;
  readonly #prefix = `tmuxwire-${process.pid}-${createNonce().slice(0, 10)}`;
  #count = 0;
  /** tmux's files do not arrive here: it may run where the folder is another one. */
  #isElsewhere = false;

  /** @param memory a folder in which every user may have one (`Host.memory`) @returns undefined if there is none to use */
  static in(memory: string | undefined, processes: Pick<HostProcesses, "isAlive">): CaptureFiles | undefined {
    if (memory === undefined) return undefined;
    const folder = join(memory, `tmuxwire-${process.getuid?.()}`);
    return attempt(() => {
      // Refused if another user made it first.
      makeOwnDirectory(folder, memory);
      chmodSync(folder, 0o700);
      return new CaptureFiles(folder, processes);
    });
  }

  private constructor(folder: string, processes: Pick<HostProcesses, "isAlive">) {
    this.#folder = folder;
    for (const name of readdirSync(folder)) {
      const pid = NAME.exec(name)?.[1];
      // Of a daemon that was killed while tmux wrote.
      if (pid !== undefined && processes.isAlive(Number(pid)) === false) this.#remove(name);
    }
  }

  /**
   * A capture that tmux writes into a paste buffer, with what the buffer held as its body. Undefined: it has to be asked
   * over the connection.
   * @param ask sends the capture, for the buffer's name, and resolves with its reply @throws what `ask` throws
   */
  async take<R extends Reply>(
    connection: Pick<ControlConnection, "group">,
    ask: (buffer: string) => Promise<R>,
  ): Promise<R | undefined> {
    if (this.#isElsewhere) return undefined;
    const name = `${this.#prefix}-${(this.#count += 1)}`;
    const path = join(this.#folder, name);
    // All in one write, so that a daemon that is killed leaves no buffer behind.
    const asked = ask(name);
    const saved = connection
      .group([bufferSize(name), saveBuffer(name, path), deleteBuffer(name)])
      .catch(() => undefined);
    try {
      const reply = await asked;
      const size = Number(utf8.decode((await saved)?.[0]?.body));
      if (!(size > 0 && size <= MAX_REPLY_BYTES)) return undefined;
      const body = attempt(() => readFileSync(path));
      // tmux reports a file that it cannot write outside the reply, and says nothing if the last bytes found no room.
      this.#isElsewhere = body === undefined;
      if (body?.length !== size) return undefined;
      // As in a reply: a joined row that continues below the capture ends here.
      return { ...reply, body: body.at(-1) === LINE_FEED ? body : Buffer.concat([body, Buffer.of(LINE_FEED)]) };
    } finally {
      await saved;
      this.#remove(name);
    }
  }

  #remove(name: string): void {
    attempt(() => rmSync(join(this.#folder, name), { force: true }));
  }
}
