/**
 * The device's login: a short-lived token and a single-use refresh token. Pages of one profile share it and renew it one
 * at a time. The server's own token is never stored.
 */
import type { DeviceSessionResponse } from "../../../../protocol/api/freshell/freshellHttp.ts";
import { type BrowserDevice, objectIn, STORAGE_KEYS, type TextStore } from "../device/deviceStorage.ts";
import { Refused } from "../../../pages/askServer.ts";
import { callServer } from "./pageApi.ts";

/** Renewed when it expires within this. */
const RENEW_BEFORE_MS = 60_000;

interface DeviceLoginOptions {
  readonly store: TextStore;
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  readonly device: BrowserDevice;
  readonly nowUnixMs: () => number;
  /** A mutex across the profile's pages. */
  readonly alone: <Result>(run: () => Promise<Result>) => Promise<Result>;
}

type Tokens = Pick<DeviceSessionResponse, "deviceToken" | "refreshToken" | "expiresAt">;

export class DeviceLogin {
  readonly #options: DeviceLoginOptions;

  constructor(options: DeviceLoginOptions) {
    this.#options = options;
  }

  /** @throws Refused UNAUTHORIZED: a login is needed */
  async token(): Promise<string> {
    const known = this.#stored();
    if (known === undefined) throw loggedOut();
    if (!this.#endsSoon(known)) return known.deviceToken;
    return this.#options.alone(() => this.#renewed());
  }

  /** The server refused it: its own token has changed, or it has lost our session. Renewed at the next call. */
  doubt(token: string): void {
    const known = this.#stored();
    if (known?.deviceToken === token) this.#keep({ ...known, expiresAt: 0 });
  }

  /** With the server's own token. @throws Refused */
  async open(token: string): Promise<void> {
    const { fetch, device } = this.#options;
    const body = { ...device, deviceType: "browser" };
    this.#keep(await callServer<Tokens>(fetch, "/api/device-sessions", { method: "POST", body, token }));
  }

  async close(): Promise<void> {
    const { store, fetch } = this.#options;
    const known = this.#stored();
    store.removeItem(STORAGE_KEYS.login);
    if (known === undefined) return;
    const request = { method: "DELETE", token: known.deviceToken } as const;
    await callServer(fetch, "/api/device-sessions/current", request).catch(() => undefined);
  }

  async #renewed(): Promise<string> {
    const { store, fetch } = this.#options;
    const known = this.#stored();
    if (known === undefined) throw loggedOut();
    // Another page has renewed it meanwhile.
    if (!this.#endsSoon(known)) return known.deviceToken;
    try {
      const request = { method: "POST", body: { refreshToken: known.refreshToken } } as const;
      return this.#keep(await callServer<Tokens>(fetch, "/api/device-sessions/refresh", request)).deviceToken;
    } catch (error) {
      if (error instanceof Refused && error.status === 401) store.removeItem(STORAGE_KEYS.login);
      throw error;
    }
  }

  #endsSoon({ expiresAt }: Tokens): boolean {
    return expiresAt - this.#options.nowUnixMs() < RENEW_BEFORE_MS;
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

const loggedOut = (): Refused => new Refused("this device is not logged in", 401, "UNAUTHORIZED");
