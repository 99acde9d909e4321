/**
 * The extension's client of the daemon, at the configured address or the one in `daemon.json`. If no daemon runs, one is
 * started if the user has allowed it; a request is retried only if that cannot perform it twice.
 */
import { homedir } from "node:os";
import { join, basename, dirname } from "node:path";
import { autostart } from "../../serving/autostart.ts";
import { daemonFilePath, readDaemonFile } from "./daemonFile.ts";
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
  readonly command: string | undefined;
  readonly stderr: string | undefined;

  constructor(code: string, message: string, more: { command?: unknown; stderr?: unknown; cause?: unknown } = {}) {
    super(`${code}: ${message}`, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "TeamToolError";
    this.code = code;
    this.command = typeof more.command === "string" ? more.command : undefined;
    this.stderr = typeof more.stderr === "string" ? more.stderr : undefined;
  }
}

interface Address {
  readonly url: string;
  readonly token: string;
}

type TeamOperation = "start" | "list" | "attach" | "capture";

interface Request {
  readonly operation: TeamOperation;
  readonly body: object;
  readonly signal: AbortSignal | undefined;
}

interface Unreached {
  readonly error: TeamToolError;
  /** True if the request did not arrive, or repeating it has no further effect. */
  readonly mayRepeat: boolean;
}

export class DaemonClient {
  readonly #options: DaemonClientOptions;
  #starting: Promise<void> | undefined;

  constructor(options: DaemonClientOptions) {
    this.#options = options;
  }

  /** @throws TeamToolError */
  async call(operation: TeamOperation, body: object, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const request = { operation, body, signal };
    const first = await this.#try(request);
    if ("body" in first) return first.body;
    // A kept-alive connection may belong to a dead daemon; the file says where its successor listens.
    const second = first.mayRepeat ? await this.#try(request) : first;
    if ("body" in second) return second.body;
    if (!this.#mayStart || !second.mayRepeat) throw second.error;
    await this.#start();
    const third = await this.#try(request);
    if ("body" in third) return third.body;
    throw third.error;
  }

  /** @throws TeamToolError if the daemon responds with an error or the caller aborts */
  async #try(request: Request): Promise<{ readonly body: Record<string, unknown> } | Unreached> {
    const address = await this.#address();
    if (address === undefined) return { error: unreachable("found no tmuxwire daemon"), mayRepeat: true };
    try {
      return { body: await send(address, request) };
    } catch (error) {
      if (error instanceof TeamToolError || request.signal?.aborted === true) throw error;
      return {
        error: unreachable(`the tmuxwire daemon does not respond at ${address.url}`, error),
        mayRepeat: didNotArrive(error) || isRepeatable(request),
      };
    }
  }

  get #mayStart(): boolean {
    return this.#options.startDaemon ?? this.#options.env["TMUXWIRE_AUTOSTART"] === "1";
  }

  get #daemonFile(): string {
    const { env, homeDir } = this.#options;
    return daemonFilePath(
      env["TMUXWIRE_TEAM_DIR"] ?? join(homeDir ?? env["HOME"] ?? homedir(), ".pi", "agent", "tmux"),
    );
  }

  async #address(): Promise<Address | undefined> {
    const { env } = this.#options;
    const url = this.#options.url ?? env["TMUXWIRE_URL"];
    const token = this.#options.token ?? env["TMUXWIRE_TOKEN"];
    if (url !== undefined && token !== undefined) return { url, token };
    return readDaemonFile(this.#daemonFile);
  }

  /** Concurrent calls start one daemon. */
  async #start(): Promise<void> {
    this.#starting ??= startDaemon(this.#options.env, this.#daemonFile).finally(() => {
      this.#starting = undefined;
    });
    try {
      await this.#starting;
    } catch (error) {
      throw unreachable((error as Error).message, error);
    }
  }
}

/** Reading changes nothing, and a key makes a repeated start harmless; only a post would appear twice. */
const isRepeatable = ({ operation, body }: Request): boolean =>
  operation === "start" ? "idempotencyKey" in body : !("threadId" in body);

const didNotArrive = (error: unknown): boolean =>
  ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === "ECONNREFUSED";

const unreachable = (message: string, cause?: unknown): TeamToolError =>
  new TeamToolError("daemon_unavailable", `${message}; run \`tmuxwire serve --with team\``, { cause });

async function send({ url, token }: Address, request: Request): Promise<Record<string, unknown>> {
  const { operation, body, signal } = request;
  const response = await fetch(`${url.replace(/\/+$/, "")}/team/v1/tmux/${operation}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    redirect: "error",
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  const received = parsed(text);
  if (response.ok && received !== undefined) return received;
  const { code, message, command, stderr } = (received?.["error"] ?? {}) as Record<string, unknown>;
  throw new TeamToolError(
    typeof code === "string" ? code : `http_${response.status}`,
    typeof message === "string" ? message : "unexpected response; check that a tmuxwire daemon listens at this address",
    { command, stderr },
  );
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Starts it without teamd's secrets. Resolves when it listens. @param daemonFile that it will write. @throws Error with its last output
 */
async function startDaemon(env: Environment, daemonFile: string): Promise<void> {
  try {
    await autostart({
      flags: ["--only", "team"],
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PI_TEAMD_"))),
      logPath: join(dirname(daemonFile), "daemon.log"),
      ready: /^team contract at /m,
      // pi may be a standalone program with another runtime inside.
      node: basename(process.execPath).startsWith("node") ? process.execPath : "node",
    });
  } catch (error) {
    throw new Error(`it did not start: ${(error as Error).message}`, { cause: error });
  }
}
