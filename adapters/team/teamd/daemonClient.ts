/**
 * The extension's client of the daemon, at the configured address or the one in `daemon.json`. If no daemon runs, one is
 * started if the user has allowed it; a request is retried only if that cannot perform it twice.
 */
import { homedir } from "node:os";
import { join, basename, dirname } from "node:path";
import type { Fields } from "../../../protocol/text/jsonObject.ts";
import { HttpCaller, TmuxwireError } from "../../client/clientHttp.ts";
import { autostart } from "../../serving/autostart.ts";
import { type DaemonAddress, daemonFilePath, readDaemonFile } from "./daemonFile.ts";
import type { Environment } from "./discovery.ts";

export interface DaemonClientOptions {
  readonly env: Environment;
  readonly homeDir?: string | undefined;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  /** Start a daemon if none is running. Default: whether TMUXWIRE_AUTOSTART is 1. */
  readonly startDaemon?: boolean | undefined;
}

/** The error of a tool; its message begins with the contract's code. */
export class TeamToolError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(`${code}: ${message}`, cause === undefined ? undefined : { cause });
    this.name = "TeamToolError";
    this.code = code;
  }
}

/** What reads, and may be repeated: unless it posts, which would appear twice. */
const READS: ReadonlySet<string> = new Set(["list", "attach", "capture", "wait"]);

export class DaemonClient {
  readonly #options: DaemonClientOptions;
  #starting: Promise<unknown> | undefined;

  constructor(options: DaemonClientOptions) {
    this.#options = options;
  }

  /**
   * A kept-alive connection may belong to a dead daemon: the file says where its successor listens.
   * @param operation as in the path
   * @throws TeamToolError
   */
  async call(operation: string, body: Fields, signal?: AbortSignal): Promise<Fields> {
    const isRepeatable = "idempotencyKey" in body || (READS.has(operation) && !("threadId" in body));
    const { env, startDaemon: mayStart = env["TMUXWIRE_AUTOSTART"] === "1" } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const address = await this.#address();
      let refusal = unreachable("found no tmuxwire daemon");
      try {
        if (address !== undefined) return await send(address, operation, body, signal);
      } catch (error) {
        if (!(error instanceof TmuxwireError)) throw error;
        if (error.status !== 0) throw new TeamToolError(error.code.toLowerCase(), error.message, error);
        refusal = unreachable(`the tmuxwire daemon does not respond at ${address?.url}`, error);
        if (!didNotArrive(error) && !isRepeatable) throw refusal;
      }
      if (tries === 3 || (tries === 2 && !mayStart)) throw refusal;
      if (tries === 2) await this.#start();
    }
  }

  get #daemonFile(): string {
    const { env, homeDir } = this.#options;
    return daemonFilePath(
      env["TMUXWIRE_TEAM_DIR"] ?? join(homeDir ?? env["HOME"] ?? homedir(), ".pi", "agent", "tmux"),
    );
  }

  async #address(): Promise<Pick<DaemonAddress, "url" | "token"> | undefined> {
    const { env, url = env["TMUXWIRE_URL"], token = env["TMUXWIRE_TOKEN"] } = this.#options;
    return url !== undefined && token !== undefined ? { url, token } : readDaemonFile(this.#daemonFile);
  }

  /** Starts it without teamd's secrets, once for concurrent calls. Resolves when it listens. */
  async #start(): Promise<void> {
    this.#starting ??= autostart({
      flags: ["--only", "team"],
      env: Object.fromEntries(Object.entries(this.#options.env).filter(([name]) => !name.startsWith("PI_TEAMD_"))),
      logPath: join(dirname(this.#daemonFile), "daemon.log"),
      ready: /^team contract at /m,
      // pi may be a standalone program with another runtime inside.
      node: basename(process.execPath).startsWith("node") ? process.execPath : "node",
    }).finally(() => {
      this.#starting = undefined;
    });
    try {
      await this.#starting;
    } catch (error) {
      throw unreachable(`it did not start: ${(error as Error).message}`, error);
    }
  }
}

const didNotArrive = ({ cause }: TmuxwireError): boolean =>
  ((cause as Error).cause as NodeJS.ErrnoException | undefined)?.code === "ECONNREFUSED";

const unreachable = (message: string, cause?: unknown): TeamToolError =>
  new TeamToolError("daemon_unavailable", `${message}; run \`tmuxwire serve --with team\``, cause);

const send = (
  address: Pick<DaemonAddress, "url" | "token">,
  operation: string,
  body: Fields,
  signal: AbortSignal | undefined,
): Promise<Fields> =>
  new HttpCaller({ ...address, fetch: (url, request) => fetch(url, { ...request, redirect: "error" }) }).json({
    method: "POST",
    path: ["team", "v1", "tmux", operation],
    body,
    signal,
  });
