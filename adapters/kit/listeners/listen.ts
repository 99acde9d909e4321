/**
 * An HTTP(S) server on a port of this machine. A problem that stops it from listening (port, host, certificate) is reported
 * in one line that says what to do.
 */
import { lookup } from "node:dns/promises";
import type { AddressInfo } from "node:net";
import { AppError, messageOf } from "../../../protocol/errors.ts";
import { isLoopbackAddress, urlHost } from "../peers/addresses.ts";
import {
  type AnyServer,
  type BoundedServerOptions,
  closeServers,
  type KeyPair,
  listeningServer,
  secureOptions,
} from "./boundedServer.ts";

export interface ListenSettings {
  readonly host: string;
  readonly port: string;
  /** The setting that allows other machines to connect, if there is one. */
  readonly others?: string | undefined;
}

interface ListenOptions extends BoundedServerOptions {
  /** `localhost` means both loopback addresses, because a client may try either. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Also serves other machines, which must send the token. Default: this machine only. */
  readonly remote?: boolean | undefined;
  /** The names of the port and host settings, for error messages. */
  readonly settings?: ListenSettings | undefined;
}

export interface Listener {
  /** With the configured host and the actual port. */
  readonly url: string;
  readonly port: number;
  /** New connections get this certificate; existing ones keep theirs. */
  replaceCertificate(tls: KeyPair): void;
  /** Stops accepting, gives active requests `CLOSE_GRACE_MS` to finish, then ends them. Safe to call twice. */
  close(): Promise<void>;
}

/** @throws AppError CONFIGURATION_INVALID */
export async function listen(options: ListenOptions): Promise<Listener> {
  if (options.remote !== true) await requireLoopback(options);
  const servers = await openServers(options);
  const { port } = servers[0].address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    port,
    url: `${options.tls === undefined ? "http" : "https"}://${urlHost(options.host)}:${port}`,
    replaceCertificate: (tls) => {
      for (const server of servers) if ("setSecureContext" in server) server.setSecureContext(secureOptions(tls));
    },
    close: () => (closing ??= closeServers(servers, options.clock)),
  };
}

/**
 * Refuses at the start a host that is not a loopback address, because every request to it would be refused.
 * @throws AppError CONFIGURATION_INVALID
 */
export async function requireLoopback(options: Pick<ListenOptions, "host" | "port" | "settings">): Promise<void> {
  const { host, settings } = options;
  if (host === "localhost") return;
  const { address } = await lookup(host).catch((error: unknown) => {
    throw listenError(options, error as NodeJS.ErrnoException);
  });
  if (isLoopbackAddress(address)) return;
  throw new AppError(
    "CONFIGURATION_INVALID",
    `${host} is not a loopback address, but only programs on this machine may connect: ` +
      `set ${settings?.host ?? "the host setting"} to localhost or 127.0.0.1, and use ssh -L from other machines` +
      (settings?.others === undefined
        ? ""
        : `; or list in ${settings.others} the host names that other machines may use`),
  );
}

type Servers = [AnyServer, ...AnyServer[]];

/** How often to retry when the chosen port is in use on the other loopback address. */
const EPHEMERAL_PORT_TRIES = 8;

async function openServers(options: ListenOptions): Promise<Servers> {
  if (options.host !== "localhost") return [await openServer(options, options.host, options.port)];
  for (let tries = 1; ; tries++) {
    const first = await openServer(options, "127.0.0.1", options.port);
    try {
      const { port } = first.address() as AddressInfo;
      return [first, await openServer(options, "::1", port)];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const reason = error.details?.["reason"];
      // Without IPv6 there is no second loopback address.
      if (reason === "EADDRNOTAVAIL" || reason === "EAFNOSUPPORT") return [first];
      await closeServers([first], options.clock);
      if (reason !== "EADDRINUSE" || options.port !== 0 || tries === EPHEMERAL_PORT_TRIES) throw error;
    }
  }
}

function openServer(options: ListenOptions, host: string, port: number): Promise<AnyServer> {
  return listeningServer(options, { host, port }).catch((error: unknown) => {
    throw error instanceof AppError ? error : listenError(options, error as NodeJS.ErrnoException);
  });
}

function listenError(
  options: Pick<ListenOptions, "host" | "port" | "settings">,
  error: NodeJS.ErrnoException,
): AppError {
  const hostSetting = options.settings?.host ?? "the host setting";
  const portSetting = options.settings?.port ?? "the port setting";
  const details = { reason: error.code ?? "unknown" };
  const at = `port ${options.port} on ${options.host}`;
  const invalid = (message: string): AppError =>
    new AppError("CONFIGURATION_INVALID", message, { details, cause: error });
  switch (details.reason) {
    case "EADDRINUSE":
      return invalid(
        `${at} is in use: stop the program that listens there, or choose another port with ${portSetting}`,
      );
    case "EACCES":
      return invalid(`${at} needs root: choose a port above 1023 with ${portSetting}`);
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return invalid(`${options.host} is not an address of this machine: set ${hostSetting} to localhost or 127.0.0.1`);
    default:
      return invalid(`cannot listen on ${at} (${messageOf(error)}): check ${hostSetting} and ${portSetting}`);
  }
}
