/** The server's HTTP API, and the login with which the page uses it. */
import type { FreshellFault } from "../../../../protocol/api/freshell/freshellErrors.ts";
import type { FileEntry, FileResponse } from "../../../../protocol/api/freshell/freshellFiles.ts";
import type { TerminalEntry } from "../../../../protocol/api/freshell/freshellHttp.ts";
import type { DeviceEntry } from "../../../../protocol/api/freshell/rpc.ts";
import type { SessionEntry } from "../../../../protocol/api/freshell/sessionEvents.ts";
import { askServer, type ErrorShape, type Fetch, jsonOf, Refused } from "../../../pages/askServer.ts";
import { type Tokens, validLogin } from "../../devices/deviceLogin.ts";
import { type BrowserDevice, objectIn, STORAGE_KEYS, type TextStore } from "../device/deviceStorage.ts";

interface Asking {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  readonly token?: string | undefined;
}

/** @throws Refused */
async function callServer<Answer>(
  fetch: Fetch,
  path: string,
  { method = "GET", body, token }: Asking,
): Promise<Answer> {
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(token === undefined ? {} : { "x-auth-token": token }),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await askServer(fetch, path, { method, credentials: "omit", headers, ...sent }, SHAPE);
  const answer = await jsonOf(response);
  if (answer !== undefined) return answer as Answer;
  throw new Refused(unknownWords(response.status), response.status, "INTERNAL_ERROR");
}

const SHAPE: ErrorShape = {
  unreachable: "the server cannot be reached",
  read: (body, status) => {
    const { error } = (body ?? {}) as { readonly error?: Partial<FreshellFault> | undefined };
    const { code = "INTERNAL_ERROR", message = unknownWords(status), details } = error ?? {};
    return { code, message, details };
  },
};

const unknownWords = (status: number): string => `the server responds ${status}`;

interface PageLoginOptions {
  readonly store: TextStore;
  readonly fetch: Fetch;
  readonly device: BrowserDevice;
  readonly nowUnixMs: () => number;
  /** A mutex across the profile's pages. */
  readonly alone: <Result>(run: () => Promise<Result>) => Promise<Result>;
}

export class PageLogin {
  readonly #options: PageLoginOptions;

  constructor(options: PageLoginOptions) {
    this.#options = options;
  }

  /** A valid token, other than one that was refused. @throws Refused; with the status 401, a login is needed */
  async token(refused?: string): Promise<string> {
    const { alone, nowUnixMs } = this.#options;
    const stored = (): Tokens => {
      const tokens = this.#stored();
      if (tokens === undefined) throw new Refused("this device is not logged in", 401, "UNAUTHORIZED");
      return tokens;
    };
    const renew = (tokens: Tokens): Promise<Tokens> => this.#renewed(tokens);
    return (await validLogin({ stored, renew, alone, nowUnixMs }, refused)).deviceToken;
  }

  /** With the server's own token. @throws Refused */
  async open(token: string): Promise<void> {
    const { fetch, device } = this.#options;
    const body = { ...device, deviceType: "browser" };
    this.#keep(await callServer<Tokens>(fetch, "/api/device-sessions", { method: "POST", body, token }));
  }

  async close(): Promise<void> {
    const { store, fetch } = this.#options;
    const token = this.#stored()?.deviceToken;
    store.removeItem(STORAGE_KEYS.login);
    if (token === undefined) return;
    await callServer(fetch, "/api/device-sessions/current", { method: "DELETE", token }).catch(() => undefined);
  }

  async #renewed({ refreshToken }: Tokens): Promise<Tokens> {
    const { store, fetch } = this.#options;
    try {
      const request = { method: "POST", body: { refreshToken } } as const;
      return this.#keep(await callServer<Tokens>(fetch, "/api/device-sessions/refresh", request));
    } catch (error) {
      if (!isLoggedOut(error)) throw error;
      // Without locks another page may have renewed it meanwhile.
      const stored = this.#stored();
      if (stored !== undefined && stored.refreshToken !== refreshToken) return stored;
      store.removeItem(STORAGE_KEYS.login);
      throw error;
    }
  }

  #keep({ deviceToken, refreshToken, expiresAt }: Tokens): Tokens {
    const tokens = { deviceToken, refreshToken, expiresAt };
    this.#options.store.setItem(STORAGE_KEYS.login, JSON.stringify(tokens));
    return tokens;
  }

  #stored(): Tokens | undefined {
    const { deviceToken, refreshToken, expiresAt } = objectIn(this.#options.store, STORAGE_KEYS.login);
    const isWhole =
      typeof deviceToken === "string" && typeof refreshToken === "string" && typeof expiresAt === "number";
    return isWhole ? { deviceToken, refreshToken, expiresAt } : undefined;
  }
}

export const isLoggedOut = (error: unknown): boolean => error instanceof Refused && error.status === 401;

/** Requests of a logged-in page. */
export class PageApi {
  readonly #fetch: Fetch;
  readonly #login: PageLogin;

  constructor(fetch: Fetch, login: PageLogin) {
    this.#fetch = fetch;
    this.#login = login;
  }

  terminals(): Promise<readonly TerminalEntry[]> {
    return this.#ask("/api/terminals");
  }

  createTerminal(options: object): Promise<TerminalEntry> {
    return this.#ask("/api/terminals", options);
  }

  /** A conversation, with the agent that can have one. */
  createSession(options: object): Promise<SessionEntry> {
    return this.#ask("/api/agent-sessions", { ...options, provider: "sdk" });
  }

  devices(): Promise<readonly DeviceEntry[]> {
    return this.#ask("/api/devices");
  }

  readFile(path: string): Promise<FileResponse> {
    return this.#ask(`/api/files?path=${encodeURIComponent(path)}`);
  }

  writeFile(path: string, text: string, etag: string | null): Promise<FileEntry> {
    return this.#ask("/api/files", { path, text, etag });
  }

  /** With a body, a POST. */
  async #ask<Answer>(path: string, body?: object): Promise<Answer> {
    const method = body === undefined ? "GET" : "POST";
    return callServer(this.#fetch, path, { method, body, token: await this.#login.token() });
  }
}
