/**
 * Calls to the server as this device: with `FRESHELL_TOKEN`, or with the login's token. The login is kept in `cli-auth.json`,
 * readable by its owner only; a file that others can read is refused before anything is sent, by every command (seed 002 §12.2).
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readPrivate, replacePrivate } from "../../../daemon/ops/privateFiles.ts";
import type { DeviceSessionResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { fieldsOf, parseJson } from "../../../protocol/text/jsonObject.ts";
import type { Io } from "../../cli/cliIo.ts";
import { validLogin } from "../devices/deviceLogin.ts";
import { attempt, freshellHome } from "./deviceIdentity.ts";
import { freshellRequest, type FreshellRequest, isUnauthorized } from "./freshellRequest.ts";
import { withLock } from "./homeLock.ts";

export type Call = Pick<FreshellRequest, "method" | "path" | "body" | "changes" | "meanwhile"> & {
  /** Completes even when the command is told to stop: it has several steps. */
  readonly isFinished?: boolean | undefined;
};

const LOGIN_AGAIN = "run `freshell auth login --from-env AUTH_TOKEN`";

export interface Credentials {
  /** The server that issued them; they are sent to no other. */
  readonly url: string;
  readonly deviceId: string;
  readonly deviceLabel: string;
  readonly deviceToken: string;
  readonly refreshToken: string;
  /** Of the device token; Unix milliseconds. */
  readonly expiresAt: number;
  readonly scopes: readonly string[];
}

export class FreshellSession {
  readonly #io: Io;
  #credentials: Credentials | undefined;

  /** @throws AppError UNAUTHORIZED when the login's file is open to others. */
  constructor(io: Io) {
    this.#io = io;
    this.#credentials = readCredentials(io);
  }

  get credentials(): Credentials | undefined {
    return this.#credentials;
  }

  /** @throws AppError INVALID_ARGUMENT */
  get url(): string {
    return serverUrl(this.#io.env["FRESHELL_URL"], this.#credentials?.url);
  }

  /** @throws AppError */
  call<Body>(call: Call): Promise<Body> {
    const given = givenToken(this.#io);
    if (given !== undefined) return this.send(call, given);
    this.#requireLoginHere();
    return this.withLogin(({ url, deviceToken }) => this.send(call, deviceToken, url));
  }

  /** A token for `url`, other than one that was refused. @throws AppError UNAUTHORIZED */
  async token(refused: string | undefined): Promise<string> {
    const given = givenToken(this.#io);
    if (given !== undefined && given === refused)
      throw new AppError("UNAUTHORIZED", `the server at ${this.url} refuses FRESHELL_TOKEN`);
    if (given !== undefined) return given;
    this.#requireLoginHere();
    return (await this.login(refused)).deviceToken;
  }

  /** With this token, or none. @throws AppError */
  send<Body>({ isFinished, ...call }: Call, token?: string, url = this.url): Promise<Body> {
    this.#io.signal.throwIfAborted();
    const signal = isFinished === true ? new AbortController().signal : this.#io.signal;
    return freshellRequest<Body>({ url, ...call, token, signal });
  }

  /** To the server of the login, whatever `FRESHELL_URL` says. @throws AppError UNAUTHORIZED */
  async withLogin<Result>(use: (login: Credentials) => Promise<Result>): Promise<Result> {
    const login = await this.login();
    try {
      return await use(login);
    } catch (error) {
      // Refused before anything was done: the server has lost its data, or its clock differs from ours.
      if (!isUnauthorized(error)) throw error;
      return use(await this.login(login.deviceToken));
    }
  }

  /** @param refused a token that the server does not accept @throws AppError; UNAUTHORIZED when the login has ended */
  login(refused?: string): Promise<Credentials> {
    const stored = (): Credentials => {
      const found = (this.#credentials = readCredentials(this.#io));
      if (found === undefined) throw this.#loggedOut();
      return found;
    };
    const alone = <Result>(run: () => Promise<Result>): Promise<Result> => withLock(this.#io, "cli-auth.lock", run);
    return validLogin({ stored, renew: (login) => this.#renew(login), alone, nowUnixMs: Date.now }, refused);
  }

  /** Saves a login. @throws AppError INTERNAL_ERROR */
  keep(url: string, deviceLabel: string, session: DeviceSessionResponse): Credentials {
    const { deviceId, deviceToken, refreshToken, expiresAt, scopes } = session;
    const credentials = { url, deviceId, deviceLabel, deviceToken, refreshToken, expiresAt, scopes };
    const path = credentialsPath(this.#io);
    attempt(path, "written", () => replacePrivate(path, `${JSON.stringify(credentials, undefined, 2)}\n`));
    this.#credentials = credentials;
    return credentials;
  }

  /** Removes the login. */
  forget(): void {
    rmSync(credentialsPath(this.#io), { force: true });
  }

  async #renew({ url, deviceLabel, refreshToken }: Credentials): Promise<Credentials> {
    const call = { method: "POST", path: "/api/device-sessions/refresh", body: { refreshToken } } as const;
    try {
      return this.keep(url, deviceLabel, await this.send<DeviceSessionResponse>(call, undefined, url));
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      throw new AppError("UNAUTHORIZED", `the login at ${url} has ended: ${LOGIN_AGAIN}`, { cause: error });
    }
  }

  #loggedOut(): AppError {
    return new AppError("UNAUTHORIZED", `not logged in at ${this.url}: ${LOGIN_AGAIN}`);
  }

  /** @throws AppError UNAUTHORIZED */
  #requireLoginHere(): void {
    const login = this.#credentials;
    if (login === undefined) throw this.#loggedOut();
    if (isSameServer(login.url, this.url)) return;
    throw new AppError("UNAUTHORIZED", `logged in at ${login.url}, not at ${this.url}: ${LOGIN_AGAIN}`);
  }
}

const credentialsPath = (io: Io): string => join(freshellHome(io), "cli-auth.json");

/** Undefined when nobody is logged in. @throws AppError UNAUTHORIZED */
function readCredentials(io: Io): Credentials | undefined {
  const path = credentialsPath(io);
  const text = readLogin(path);
  if (text === undefined) return undefined;
  const found = fieldsOf(parseJson(text)) ?? {};
  const { url, deviceId, deviceLabel, deviceToken, refreshToken, expiresAt, scopes } = found;
  const texts = [url, deviceId, deviceLabel, deviceToken, refreshToken];
  const isWhole = texts.every((one) => typeof one === "string" && one !== "") && typeof expiresAt === "number";
  if (isWhole && Array.isArray(scopes) && URL.canParse(url as string)) return found as object as Credentials;
  throw new AppError("UNAUTHORIZED", `${path} is not a login file: remove it and run \`freshell auth login\``);
}

function readLogin(path: string): string | undefined {
  let found: ReturnType<typeof readPrivate>;
  try {
    found = readPrivate(path, { followsLinks: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new AppError("UNAUTHORIZED", `${path} cannot be read (${code})`, { cause: error });
  }
  if (found?.isFile === false) throw new AppError("UNAUTHORIZED", `${path} is not a regular file: remove it`);
  if (found?.openMode === undefined) return found?.text;
  throw new AppError(
    "UNAUTHORIZED",
    `${path} is accessible to other users (mode ${found.openMode}): run chmod 600 ${path}`,
  );
}

function givenToken({ env }: Io): string | undefined {
  const token = env["FRESHELL_TOKEN"];
  return token === undefined || token === "" ? undefined : headerToken(token, "FRESHELL_TOKEN");
}

/** What a header can carry. @throws AppError UNAUTHORIZED */
export function headerToken(token: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new AppError("UNAUTHORIZED", `${from} is not a token: a token is printable ASCII without spaces`);
}

const DEFAULT_URL = "http://127.0.0.1:3001";
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** `FRESHELL_URL`, else where this device is logged in, else the default; without a trailing slash. @throws AppError INVALID_ARGUMENT */
function serverUrl(given: string | undefined, loggedInAt: string | undefined): string {
  if (given === undefined || given === "") return loggedInAt ?? DEFAULT_URL;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isBare = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (url !== undefined && isBare && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, "");
  // Not quoted: a token in it could end up in a log.
  throw invalidArgument(
    "FRESHELL_URL is not a server's URL: give http://HOST:PORT or https://HOST:PORT, without user, query or fragment",
  );
}

/** Whether both are the same server: loopback has several names. */
function isSameServer(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  const bothHere = LOOPBACK.test(a.hostname) && LOOPBACK.test(b.hostname);
  const rest = ({ protocol, port, pathname }: URL): string => [protocol, port, pathname].join(" ");
  return rest(a) === rest(b) && (bothHere || a.hostname === b.hostname);
}
