/**
 * Who may use the listener: holders of the bootstrap token (`AUTH_TOKEN`), and devices with a token issued for it. Device
 * tokens live for minutes and are renewed with a refresh token, which works once. Only digests are kept.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { DeviceSessionRequest, DeviceSessionResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { newToken } from "../../../daemon/ops/newToken.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import { MAX_DEVICE_SESSIONS, REFRESH_KEPT_MS } from "../freshellLimits.ts";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { parse } from "../../../protocol/api/parse.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import { replacePrivate, requireKnownContent } from "../../../daemon/ops/privateFiles.ts";

export type Principal =
  | { readonly kind: "bootstrap" }
  | { readonly kind: "device"; readonly deviceId: string; readonly scopes: readonly string[] };

interface CredentialsOptions {
  readonly token: string;
  readonly ttlSec: number;
  readonly nowUnixMs: () => number;
  /** Tokens expire by this clock too: setting the wall clock back does not extend them. */
  readonly clock: Clock;
  readonly store: SessionStore;
  /** Devices whose layout a device may change besides its own. */
  readonly remoteTargets: (deviceId: string) => readonly string[];
}

const digest = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #bootstrap: Buffer;
  /** By the digest of the device token. The time of a lookup by digest reveals nothing about a token. */
  readonly #byDevice = new Map<string, StoredSession>();
  readonly #byRefresh = new Map<string, StoredSession>();
  /** Expiry on `clock` of tokens issued by this daemon. */
  readonly #endsMs = new WeakMap<StoredSession, number>();

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#bootstrap = digest(options.token);
    for (const session of options.store.read()) this.#keep(session);
  }

  /** The token's holder; undefined if unknown or expired. */
  principalOf(token: string | undefined): Principal | undefined {
    if (token === undefined || token === "") return undefined;
    const given = digest(token);
    if (timingSafeEqual(given, this.#bootstrap)) return { kind: "bootstrap" };
    const session = this.#byDevice.get(given.toString("hex"));
    if (session === undefined || this.#hasExpired(session)) return undefined;
    return { kind: "device", deviceId: session.deviceId, scopes: session.scopes };
  }

  open({ deviceId }: DeviceSessionRequest): DeviceSessionResponse {
    return this.#issue(deviceId);
  }

  /** Issues a new pair and invalidates the old one. @throws AppError UNAUTHORIZED */
  refresh(refreshToken: string): DeviceSessionResponse {
    const session = this.#byRefresh.get(digest(refreshToken).toString("hex"));
    if (session === undefined || session.refreshUntil <= this.#options.nowUnixMs()) {
      throw new AppError("UNAUTHORIZED", "the refresh token is no longer valid; run `freshell auth login` again");
    }
    this.#end(session);
    return this.#issue(session.deviceId);
  }

  /** Ends the session of this device token. False: there is none. */
  close(token: string): boolean {
    const session = this.#byDevice.get(digest(token).toString("hex"));
    if (session === undefined) return false;
    this.#end(session);
    this.#store();
    return true;
  }

  #issue(deviceId: string): DeviceSessionResponse {
    const nowMs = this.#options.nowUnixMs();
    this.#forgetOld(nowMs);
    const [deviceToken, refreshToken] = [newToken(), newToken()];
    const session: StoredSession = {
      deviceId,
      scopes: ["terminals", `layout:write:${deviceId}`],
      device: digest(deviceToken).toString("hex"),
      refresh: digest(refreshToken).toString("hex"),
      expiresAt: nowMs + this.#options.ttlSec * 1_000,
      refreshUntil: nowMs + REFRESH_KEPT_MS,
    };
    this.#endsMs.set(session, this.#options.clock.nowMs() + this.#options.ttlSec * 1_000);
    this.#keep(session);
    this.#store();
    const { expiresAt, scopes } = session;
    // As of now: a permission may be revoked while the token is valid, and is checked each time.
    const remote = this.#options.remoteTargets(deviceId).map((target) => `remote-control:${target}`);
    return { deviceToken, refreshToken, expiresAt, deviceId, scopes: [...scopes, ...remote] };
  }

  #hasExpired(session: StoredSession): boolean {
    const { nowUnixMs, clock } = this.#options;
    return session.expiresAt <= nowUnixMs() || (this.#endsMs.get(session) ?? Infinity) <= clock.nowMs();
  }

  #forgetOld(nowMs: number): void {
    for (const session of this.#byRefresh.values()) {
      if (session.refreshUntil > nowMs && this.#byRefresh.size < MAX_DEVICE_SESSIONS) break;
      this.#end(session);
    }
  }

  #keep(session: StoredSession): void {
    this.#byDevice.set(session.device, session);
    this.#byRefresh.set(session.refresh, session);
  }

  #store(): void {
    this.#options.store.write([...this.#byRefresh.values()]);
  }

  #end({ device, refresh }: StoredSession): void {
    this.#byDevice.delete(device);
    this.#byRefresh.delete(refresh);
  }
}

/** The token of a request: `x-auth-token`, or a bearer. */
export function tokenOf(request: { header(name: string): string | undefined }): string | undefined {
  const own = request.header("x-auth-token");
  if (own !== undefined) return own.trim();
  const bearer = /^Bearer (.+)$/.exec(request.header("authorization") ?? "");
  return bearer?.[1]?.trim();
}

/**
 * Device sessions outlive the daemon: digests of their tokens in a file of ours, written atomically. Another bootstrap token
 * invalidates them. An unreadable file counts as none: devices log in again.
 */
const storedDigest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const sessionSchema = v.object({
  deviceId: v.string(),
  scopes: v.array(v.string()),
  device: storedDigest,
  refresh: storedDigest,
  expiresAt: v.number(),
  refreshUntil: v.number(),
});
const FILE_VERSION = 1;
const fileSchema = v.object({
  version: v.literal(FILE_VERSION),
  bootstrap: storedDigest,
  sessions: v.array(sessionSchema),
});

type StoredSession = v.InferOutput<typeof sessionSchema>;

export interface SessionStore {
  /** @throws AppError INCONSISTENT_STATE if a newer version wrote them */
  read(): readonly StoredSession[];
  write(sessions: readonly StoredSession[]): void;
}

interface SessionFileOptions {
  readonly path: string;
  /** The bootstrap token. */
  readonly token: string;
  readonly log: Log;
}

export function sessionFile({ path, token, log }: SessionFileOptions): SessionStore {
  // Salted, so that it is not the digest of the token itself.
  const bootstrap = digest(`freshell sessions of ${token}`).toString("hex");
  return {
    read: () => {
      try {
        const content: unknown = JSON.parse(readFileSync(path, "utf8"));
        requireKnownContent(path, content, FILE_VERSION);
        const stored = parse(fileSchema, content);
        return stored.bootstrap === bootstrap ? stored.sessions : [];
      } catch (error) {
        if (toAppError(error).code === "INCONSISTENT_STATE") throw error;
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") log.warn("freshell.sessions.unreadable", { path });
        return [];
      }
    },
    write: (sessions) => {
      try {
        replacePrivate(path, JSON.stringify({ version: FILE_VERSION, bootstrap, sessions }));
      } catch (error) {
        // They remain valid until this daemon ends.
        log.error("freshell.sessions.unwritten", { path, error });
      }
    },
  };
}
