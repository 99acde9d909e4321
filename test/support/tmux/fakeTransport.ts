/** A control client without tmux: what was written is kept, what tmux would say is pushed by hand. */
import { ControlConnection } from "../../../daemon/connection/controlConnection.ts";
import type { OpenTransport, TransportOptions } from "../../../daemon/host/clients/transport.ts";
import type { AppError } from "../../../protocol/errors.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";

export class FakeTransport {
  /** Every command line written so far, without its line end. */
  readonly lines: string[] = [];
  closed = false;
  #options: TransportOptions | undefined;
  #number = 100;

  readonly open: OpenTransport = (options) => {
    this.#options = options;
    return {
      pid: 1,
      write: (text) => {
        if (!text.endsWith("\n")) throw new Error(`half a line was written: ${text}`);
        this.lines.push(...text.slice(0, -1).split("\n"));
      },
      close: () => {
        if (this.closed) return;
        this.closed = true;
        this.#options?.onClose();
      },
    };
  };

  /** What tmux says, LF line ends. */
  push(text: string): void {
    this.#options?.onData(Buffer.from(text, "latin1"));
  }

  /** The block of the attach: tmux is heard, so commands go out. */
  attach(): void {
    this.push("%begin 1 99 0\n%end 1 99 0\n");
  }

  /** One block that replies to the oldest waiting command of a line. */
  reply(body = "", ok = true): void {
    this.#number += 1;
    const stamp = `1 ${this.#number} 1`;
    this.push(`%begin ${stamp}\n${body}%${ok ? "end" : "error"} ${stamp}\n`);
  }

  /** The two blocks that reply to the last command of foreign text and to its nonce's; those of hooks are between them. */
  replyForeign(body: string, trailer = "", hooks = 0): void {
    const closing = /^display-messag -p (?:-t \S+ )?"(\S+) /.exec(this.lines.at(-1) ?? "")?.[1];
    const block = (said: string, client: boolean): string => {
      this.#number += 1;
      const stamp = `1 ${this.#number} ${client ? 1 : 0}`;
      return `%begin ${stamp}\n${said}%end ${stamp}\n`;
    };
    const blocks = [block(body, true)];
    for (let hook = 0; hook < hooks; hook += 1) blocks.push(block("", false));
    blocks.push(block(`${closing} ${trailer}\n`, true));
    this.push(blocks.join(""));
  }

  /** tmux executes commands of other clients. */
  othersDid(commands: number): void {
    this.#number += commands;
  }

  /** tmux's end of the line goes away. */
  drop(): void {
    this.closed = true;
    this.#options?.onClose();
  }
}

interface FakeConnection {
  readonly connection: ControlConnection;
  readonly transport: FakeTransport;
  readonly notifications: Notification[];
  readonly outputs: string[];
  readonly closedWith: AppError[];
  readonly chunkEnds: () => number;
}

/** A real connection over a fake transport, attached. */
export function fakeConnection(): FakeConnection {
  const transport = new FakeTransport();
  const notifications: Notification[] = [];
  const outputs: string[] = [];
  const closedWith: AppError[] = [];
  let chunks = 0;
  const connection = new ControlConnection({
    open: transport.open,
    spawn: { tmux: "tmux", args: [], env: {}, cwd: "/" },
    onOutput: (pane, line, from, to) => {
      outputs.push(`%${pane} ${Buffer.from(line.subarray(from, to)).toString("latin1")}`);
    },
    onNotification: (notification) => notifications.push(notification),
    onChunkEnd: () => (chunks += 1),
    onClosed: (error) => closedWith.push(error),
  });
  transport.attach();
  return { connection, transport, notifications, outputs, closedWith, chunkEnds: () => chunks };
}

/** Lets what was queued as microtasks run: a connection writes at the end of the turn. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
