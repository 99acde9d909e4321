/**
 * An HTTP(S) server on a port of this machine. What stops it from listening (port, host, certificate) is reported as one
 * line that says what to do.
 */
import { lookup } from "node:dns/promises";
import type { AddressInfo } from "node:net";
import { AppError } from "../../../protocol/errors.ts";
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
  /** The setting that lets other machines in, if there is one. */
  readonly others?: string | undefined;
}

interface ListenOptions extends BoundedServerOptions {
  /** `localhost` stands for both loopback addresses, whichever of the two a client tries. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Serves other machines as well; `fetch` requires the token of them. Default: this machine only. */
  readonly remote?: boolean | undefined;
  /** What the port and host settings are called where the user sets them, for error messages. */
  readonly settings?: ListenSettings | undefined;
}

export interface Listener {
  /** With the configured host and the actual port. */
  readonly url: string;
  readonly port: number;
  /** New connections get this certificate; existing ones keep theirs. */
  replaceCertificate(tls: KeyPair): void;
  /** Stops accepting, lets requests under way finish for `CLOSE_GRACE_MS`, then ends them. Safe to call twice. */
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
 * Other machines' requests are refused one by one; a listener that would refuse everybody is refused at the start.
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
    `${host} can be reached from other machines, and only programs on this machine may connect: ` +
      `set ${settings?.host ?? "the host setting"} to localhost or 127.0.0.1, and use ssh -L from elsewhere` +
      (settings?.others === undefined ? "" : `; or name in ${settings.others} the hosts by which others may reach it`),
  );
}

type Servers = [AnyServer, ...AnyServer[]];

/** Tries when a chosen port is taken on the other loopback address. */
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
      // Without IPv6 there is no second address to listen on.
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
      return invalid(`${at} is in use: stop what listens there, or choose another port with ${portSetting}`);
    case "EACCES":
      return invalid(`${at} is reserved for the administrator: choose a port above 1023 with ${portSetting}`);
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return invalid(`${options.host} is no address of this machine: set ${hostSetting} to localhost or 127.0.0.1`);
    default:
      return invalid(`cannot listen on ${at} (${messageOf(error)}): check ${hostSetting} and ${portSetting}`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
