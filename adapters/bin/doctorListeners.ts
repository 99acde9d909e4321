/** Checks of ports and the unix socket: free, ours, or somebody else's. */
import { existsSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { AddinConfig } from "../../daemon/ops/config.ts";
import type { DashboardConfig } from "../../daemon/ops/dashboardConfig.ts";
import type { NativeConfig } from "../../daemon/ops/nativeConfig.ts";
import type { AllowedUids } from "../../daemon/ops/peerConfig.ts";
import { prepareSocketPath } from "../../daemon/server/socketPath.ts";
import { urlHost } from "../http/addresses.ts";
import { type ListenSettings, requireLoopback } from "../http/listen.ts";
import { peersUnknowable } from "../http/peerUsers.ts";
import { NATIVE_LISTEN_SETTINGS } from "./configOptions.ts";
import type { Finding } from "./doctorReport.ts";
import { fail, ok, warn } from "./doctorReport.ts";
import { isAnswering } from "./socketProbe.ts";

/** Health is answered from memory; what needs longer is not ours. */
const ANSWER_WITHIN_MS = 1_000;
const MAX_ANSWER_BYTES = 65_536;

export async function unixSocketCheck(path: string): Promise<Finding> {
  if (!existsSync(dirname(path))) return ok("unix socket", `${path} will be made`);
  prepareSocketPath(path, { setting: "--socket or TMUXWIRE_SOCKET" });
  if (!existsSync(path)) return ok("unix socket", `${path} is free`);
  if (await isAnswering(path)) return ok("unix socket", `a daemon listens on ${path}`);
  return ok("unix socket", `${path} was left by a daemon that is gone; the next start replaces it`);
}

export function nativePortCheck({ host, port, allowedHosts }: NativeConfig): Promise<Finding> {
  const url = `http://${urlHost(host)}:${port}/livez`;
  const remedy = "stop what listens there, or choose another port with --port or TMUXWIRE_PORT";
  return portCheck({
    check: "native port",
    host,
    port,
    remedy,
    settings: NATIVE_LISTEN_SETTINGS,
    remote: allowedHosts.length > 0,
    isOurs: async () => isHealth(await ask(url, {})),
  });
}

export function addinPortCheck({ host, port, https, allowedOrigins }: AddinConfig): Promise<Finding> {
  const url = `${https ? "https" : "http"}://${urlHost(host)}:${port}/health`;
  const headers = { origin: allowedOrigins[0] ?? "" };
  const remedy = "stop what listens there, or choose another port with --addin-port or PORT";
  return portCheck({
    check: "add-in port",
    host,
    port,
    remedy,
    settings: { host: "HOST or --addin-host", port: "--addin-port or PORT" },
    isOurs: async () => isHealth(await ask(url, headers)),
  });
}

export function dashboardPortCheck({ host, port }: DashboardConfig): Promise<Finding> {
  const url = `http://${urlHost(host)}:${port}/hook/status`;
  const remedy = "stop what listens there, or choose another port with --dashboard-port or TMUXWIRE_DASHBOARD_PORT";
  return portCheck({
    check: "dashboard port",
    host,
    port,
    remedy,
    settings: { host: "--dashboard-host", port: "--dashboard-port" },
    isOurs: async () => isDashboard(await ask(url, {})),
  });
}

/** Whom a listener obeys. */
export function usersCheck(
  check: string,
  allowUids: AllowedUids,
  token: string | undefined,
  tokenSetting: string,
): Finding {
  const problem = peersUnknowable({ allowUids, token, tokenSetting });
  if (problem !== undefined) return fail(check, problem);
  if (token !== undefined) return ok(check, "whoever has its token");
  if (allowUids === "any") {
    return warn(
      check,
      "every user of this machine, without a token",
      `set ${tokenSetting}, or leave out --allow-uids any`,
    );
  }
  return ok(check, `${["you", "root", ...[...allowUids].map((uid) => `user ${uid}`)].join(", ")}: it has no token`);
}

interface PortCheck {
  readonly check: string;
  readonly host: string;
  readonly port: number;
  readonly remedy: string;
  readonly settings: ListenSettings;
  /** Other machines may be let in. */
  readonly remote?: boolean | undefined;
  readonly isOurs: () => Promise<boolean>;
}

async function portCheck({ check, host, port, remedy, settings, remote, isOurs }: PortCheck): Promise<Finding> {
  if (remote !== true) await requireLoopback({ host, port, settings });
  if (port === 0) return ok(check, "any free port");
  const at = `${urlHost(host)}:${port}`;
  const problem = await bindProblem(host, port);
  switch (problem) {
    case undefined:
      return ok(check, `${at} is free`);
    case "EADDRINUSE":
      return (await isOurs())
        ? ok(check, `a daemon answers on ${at}`)
        : fail(check, `${at} is in use by another program`, remedy);
    default:
      return fail(check, `cannot listen on ${at} (${problem})`, remedy);
  }
}

/** Listens for a moment, the only way to know. */
function bindProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Every health answer of ours is an object that says whether all is well. */
const isHealth = (answer: unknown): boolean =>
  typeof answer === "object" && answer !== null && ("ok" in answer || "error" in answer);

/** Its answer to whoever may ask, or that it wants its token first. */
const isDashboard = (answer: unknown): boolean =>
  typeof answer === "object" &&
  answer !== null &&
  ("events_received" in answer || ("error_type" in answer && answer.error_type === "unauthorized"));

/** The answer's JSON, undefined when there is none. A certificate need not be trusted to be recognised. */
function ask(url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return new Promise((resolve) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const options = { headers, rejectUnauthorized: false, timeout: ANSWER_WITHIN_MS };
    const request = send(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_BYTES) request.destroy();
      });
      response.once("close", () => resolve(parsed(text)));
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(undefined));
    request.end();
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
