/**
 * The control client one writes in an afternoon, as the baseline that shares our transport: strings throughout, lines by
 * `split`, replies matched by position, output unescaped by a regular expression. No framing, no bound, no positions, no
 * copy-mode check, no quoting: what it leaves out is what ours costs.
 */
import { StringDecoder } from "node:string_decoder";
import type { OpenTransport, Transport } from "../daemon/host/clients/transport.ts";

/** Options that an owned server has too: tmux does the same work for every contender. */
export const QUIET_SERVER = ["history-limit 10000", "status off", "automatic-rename off", "remain-on-exit on"].flatMap(
  (option) => ["set-option", "-g", ...option.split(" "), ";"],
);

interface NaiveClientOptions {
  readonly open: OpenTransport;
  readonly socketPath: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  readonly command: readonly string[];
}

export class NaiveClient {
  readonly #transport: Transport;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #body: string[] | undefined;
  #pending: ((body: string) => void)[] = [];
  #onOutput: (text: string) => void = () => undefined;
  readonly #onAttached: () => void;

  private constructor(options: NaiveClientOptions, onAttached: () => void) {
    this.#onAttached = onAttached;
    const server = ["-u", "-f", "/dev/null", "-S", options.socketPath];
    const size = ["-x", String(options.cols), "-y", String(options.rows)];
    this.#transport = options.open({
      tmux: "tmux",
      args: [...server, ...QUIET_SERVER, "new-session", ...size, ...options.command],
      env: options.env,
      cwd: "/",
      onData: (chunk) => this.#receive(chunk),
      onClose: () => undefined,
    });
  }

  /** Resolves when it is attached; blocks before that reply to nothing. */
  static async attach(options: NaiveClientOptions): Promise<NaiveClient> {
    let client: NaiveClient | undefined;
    await new Promise<void>((resolve) => {
      client = new NaiveClient(options, resolve);
    });
    return client!;
  }

  /** Who gets all output from now on. */
  set onOutput(listener: (text: string) => void) {
    this.#onOutput = listener;
  }

  command(line: string): Promise<string> {
    return new Promise((resolve) => {
      this.#pending.push(resolve);
      this.#transport.write(`${line}\n`);
    });
  }

  close(): void {
    this.#transport.close();
  }

  #receive(chunk: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  #line(line: string): void {
    if (line.startsWith("%output ")) {
      const text = line.slice(line.indexOf(" ", 8) + 1);
      this.#onOutput(
        text.replace(/\\(\d{3})/g, (_all, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
      );
    } else if (line.startsWith("%begin ")) {
      this.#body = [];
    } else if (line.startsWith("%end ") || line.startsWith("%error ")) {
      this.#pending.shift()?.((this.#body ?? []).join("\n"));
      this.#body = undefined;
    } else if (line.startsWith("%session-changed ")) {
      this.#onAttached();
    } else {
      this.#body?.push(line);
    }
  }
}
