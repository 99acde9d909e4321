/** A daemon in a process of its own that serves the add-in's requests over plain HTTP, and connections to it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Bridge } from "./baseline.ts";
import { check } from "./figures.ts";
import { benchEnvironment, type PrivateSocket, privateSocket } from "./privateServer.ts";
import { RawHttp } from "./rawHttp.ts";

const DAEMON = fileURLToPath(new URL("../adapters/bin/tmuxwire.js", import.meta.url));
/** One of the add-in's default origins (docs/contracts/addin.md §1). */
const ORIGIN = "https://localhost:3000";

export interface BridgeResponse {
  readonly ok: boolean;
  readonly output?: string;
  readonly error?: string;
}

export interface DaemonProcess extends Bridge {
  readonly socket: PrivateSocket;
}

export async function startDaemon(): Promise<DaemonProcess> {
  const socket = privateSocket();
  const flags = ["--only", "addin", "--http", "--addin-port", "0", "--addin-mode", "tmux", "--log-level", "error"];
  const child = spawn(process.execPath, [DAEMON, "serve", ...flags, "--addin-socket", socket.socketPath], {
    // No configuration of the user's may decide what is measured.
    env: { ...benchEnvironment, HOME: socket.directory, XDG_CONFIG_HOME: socket.directory, SHELL: "/bin/sh" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const dispose = async (): Promise<void> => {
    if (child.exitCode === null && child.kill("SIGTERM")) await once(child, "exit");
    await socket[Symbol.asyncDispose]();
  };
  const port = await new Promise<number>((resolve) => {
    let said = "";
    child.stdout.on("data", (text: Buffer) => {
      said += text.toString();
      const url = /listening on \S+:(\d+)/.exec(said);
      if (url !== null) resolve(Number(url[1]));
    });
    child.once("exit", () => resolve(0));
  });
  if (port === 0) await dispose();
  check(port !== 0, "the daemon did not start");
  return { port, socket, [Symbol.asyncDispose]: dispose };
}

/** A few kept connections, as a browser has them; each request takes one that is free. */
export class Connections implements Disposable {
  readonly #port: number;
  readonly #free: RawHttp[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  post(body: object): Promise<BridgeResponse> {
    return this.#call("POST", "/v1/tmux", body);
  }

  health(): Promise<BridgeResponse> {
    return this.#call("GET", "/health");
  }

  async #call(method: string, path: string, body?: object): Promise<BridgeResponse> {
    const http = this.#free.pop() ?? (await RawHttp.open(this.#port, `Origin: ${ORIGIN}\r\n`));
    try {
      return (await http.call(method, path, body)) as BridgeResponse;
    } finally {
      this.#free.push(http);
    }
  }

  [Symbol.dispose](): void {
    for (const http of this.#free) http[Symbol.dispose]();
  }
}
