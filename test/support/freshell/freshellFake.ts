/**
 * A Freshell server below the command line's HTTP: it notes what is asked and responds as a test says. And the command line
 * in process, with a home of its own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingHttpHeaders, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io } from "../../../adapters/cli/cliIo.ts";
import { type CliResult, ranInProcess } from "../daemon/cliOutput.ts";
import { freshellProgram } from "../../../adapters/freshell/cli/freshellProgram.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export class FreshellFake implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly url: string;
  readonly home: string;
  /** For those who speak more than HTTP. */
  readonly server: Server;
  /** Responds to one request; default an empty object. */
  answer: (asked: Asked, response: ServerResponse) => void = (_asked, response) => send(response, 200, {});
  readonly #close: () => Promise<void>;

  private constructor(server: Server, url: string, home: string, close: () => Promise<void>) {
    this.server = server;
    this.url = url;
    this.home = home;
    this.#close = close;
  }

  static async start(): Promise<FreshellFake> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const fake = new FreshellFake(
      server,
      `http://127.0.0.1:${port}`,
      mkdtempSync(join(tmpdir(), "tw-freshell-")),
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    );
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const asked: Asked = {
          method: request.method ?? "",
          path: request.url ?? "",
          token: request.headers["x-auth-token"] as string | undefined,
          headers: request.headers,
          body: text === "" ? undefined : JSON.parse(text),
        };
        fake.asked.push(asked);
        fake.answer(asked, response);
      });
    });
    return fake;
  }

  /** Fails every request with this error. */
  fails(error: object, status = 400): void {
    this.answer = (_asked, response) => send(response, status, { error });
  }

  /** The command line, with a token of its own unless `env` has none. */
  async run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = { FRESHELL_TOKEN: "t".repeat(20) },
    io: Partial<Io> = {},
  ): Promise<CliResult> {
    return runFreshell(args, { homeDir: this.home, env: { FRESHELL_URL: this.url, ...env }, ...io });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    rmSync(this.home, { recursive: true, force: true });
  }
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export const runFreshell = (args: readonly string[], io: Partial<Io>): Promise<CliResult> =>
  ranInProcess(
    freshellProgram(() => "0.0.0", []),
    args,
    io,
  );
