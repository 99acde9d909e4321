/** A connection to NATS, with the credentials of its settings. */
import { readFileSync } from "node:fs";
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
} from "@nats-io/transport-node";
import { AppError, messageOf } from "../../protocol/errors.ts";
import type { NatsAccess } from "./fleetConfig.ts";

/** A server that has stopped answering is left after two of these. */
const PING_MS = 10_000;
/** Between two tries, the second part at random, so that many viewers do not come back at once. */
const RETRY_MS = 200;
const RETRY_SPREAD_MS = 1_800;

/** Of files that cannot be read nothing comes later. @throws AppError CONFIGURATION_INVALID */
export function requireNatsFiles(access: NatsAccess): void {
  authenticators(access);
  const { caPath, certificatePath, keyPath } = access.tls;
  for (const path of [caPath, certificatePath, keyPath]) if (path !== undefined) contentOf(path, "TLS");
}

/**
 * The first failure is an error; once it is open it reconnects for ever.
 * @param name what the servers' lists of connections show
 * @throws AppError CONFIGURATION_INVALID, UNAUTHORIZED, DAEMON_UNREACHABLE
 */
export async function connectNats(access: NatsAccess, name: string): Promise<NatsConnection> {
  const { servers, user, password, token, tls } = access;
  const authenticator = authenticators(access);
  const usesTls = servers.some((url) => url.startsWith("tls:")) || tls.caPath !== undefined;
  try {
    return await connect({
      servers: servers.map((url) => url.replace(/^[a-z]+:\/\//, "")),
      name,
      maxReconnectAttempts: -1,
      // Rights may be corrected while we wait.
      ignoreAuthErrorAbort: true,
      // An error is made for each request, in case it fails; where it came from is known from its message.
      noAsyncTraces: true,
      pingInterval: PING_MS,
      maxPingOut: 2,
      reconnectTimeWait: RETRY_MS,
      reconnectJitter: RETRY_SPREAD_MS,
      reconnectJitterTLS: RETRY_SPREAD_MS,
      ...(user === undefined ? {} : { user }),
      ...(password === undefined ? {} : { pass: password }),
      ...(token === undefined ? {} : { token }),
      ...(authenticator.length === 0 ? {} : { authenticator: [...authenticator] }),
      ...(usesTls ? { tls: tlsFiles(tls) } : {}),
    });
  } catch (error) {
    throw connectionError(error, servers);
  }
}

/** @throws AppError CONFIGURATION_INVALID */
function authenticators({ credentialsPath, nkeyPath }: NatsAccess): readonly Authenticator[] {
  const made: Authenticator[] = [];
  if (credentialsPath !== undefined) made.push(credsAuthenticator(current(credentialsPath, "credentials")));
  if (nkeyPath !== undefined) made.push(nkeyAuthenticator(current(nkeyPath, "nkey")));
  return made;
}

/** Asked at each reconnect, as what expires is replaced in its file; while that cannot be read, it is as it was. */
function current(path: string, what: string): () => Uint8Array {
  let known = contentOf(path, what);
  return () => {
    try {
      known = contentOf(path, what);
    } catch {
      // It is just being replaced.
    }
    return known;
  };
}

/** @throws AppError CONFIGURATION_INVALID */
function contentOf(path: string, what: string): Uint8Array {
  try {
    const text = readFileSync(path, "utf8");
    return Buffer.from(what === "nkey" ? text.trim() : text);
  } catch (error) {
    throw new AppError("CONFIGURATION_INVALID", `the file with NATS's ${what} cannot be read: ${path}`, {
      cause: error,
    });
  }
}

const tlsFiles = ({ caPath, certificatePath, keyPath }: NatsAccess["tls"]) => ({
  ...(caPath === undefined ? {} : { caFile: caPath }),
  ...(certificatePath === undefined ? {} : { certFile: certificatePath }),
  ...(keyPath === undefined ? {} : { keyFile: keyPath }),
});

function connectionError(error: unknown, servers: readonly string[]): AppError {
  const reason = messageOf(error);
  const where = servers.join(", ");
  return /authorization|permission|nkey|credential/i.test(reason)
    ? new AppError("UNAUTHORIZED", `NATS at ${where} refuses these credentials: ${reason}`, { cause: error })
    : new AppError("DAEMON_UNREACHABLE", `NATS cannot be reached at ${where}: ${reason}`, { cause: error });
}
