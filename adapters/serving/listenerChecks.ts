/** Checks of listeners: whether the port is free, ours, or in use by another program, and which users may connect. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { createServer } from "node:net";
import type { AllowedUids } from "../../daemon/ops/daemonConfig.ts";
import { parseJson } from "../../protocol/text/jsonObject.ts";
import { urlHost } from "../kit/peers/addresses.ts";
import { type ListenSettings, requireLoopback } from "../kit/listeners/listen.ts";
import { peersUnknowable } from "../kit/peers/peerUsers.ts";
import { type Check, fail, type Finding, ok, warn } from "./findings.ts";

/** Our health response is served from memory; a slower one is not ours. */
const RESPONSE_WITHIN_MS = 1_000;
const MAX_RESPONSE_BYTES = 65_536;

/** Which users may connect to a listener. */
export const usersCheck = (
  name: string,
  allowUids: AllowedUids,
  token: string | undefined,
  tokenSetting: string,
): Check => ({ name, probe: () => usersOf(name, allowUids, token, tokenSetting) });

function usersOf(check: string, allowUids: AllowedUids, token: string | undefined, tokenSetting: string): Finding {
  const problem = peersUnknowable({ allowUids, token, tokenSetting });
  if (problem !== undefined) return fail(check, problem);
  if (token !== undefined) return ok(check, "anyone with the token");
  if (allowUids === "any") {
    return warn(
      check,
      "every user of this machine, without a token",
      `set ${tokenSetting}, or remove --allow-uids any`,
    );
  }
  return ok(check, `${["you", "root", ...[...allowUids].map((uid) => `user ${uid}`)].join(", ")}, without a token`);
}

interface PortCheckOptions {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly settings: ListenSettings;
  /** Whether other machines may connect. */
  readonly remote?: boolean | undefined;
  /** The health URL of our listener at that address; the response is JSON. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly isOurs: (body: unknown) => boolean;
}

export const portCheck = (options: PortCheckOptions): Check => ({ name: options.name, probe: () => portOf(options) });

async function portOf(options: PortCheckOptions): Promise<Finding> {
  const { name: check, host, port, settings, remote, url, headers = {}, isOurs } = options;
  const remedy = `stop the program that listens there, or choose another port with ${settings.port}`;
  if (remote !== true) await requireLoopback({ host, port, settings });
  if (port === 0) return ok(check, "any free port");
  const at = `${urlHost(host)}:${port}`;
  const problem = await bindProblem(host, port);
  switch (problem) {
    case undefined:
      return ok(check, `${at} is free`);
    case "EADDRINUSE":
      return isOurs(await ask(url, headers))
        ? ok(check, `a daemon listens on ${at}`)
        : fail(check, `${at} is in use by another program`, remedy);
    default:
      return fail(check, `cannot listen on ${at} (${problem})`, remedy);
  }
}

/** Binds the port briefly, which is the only way to know. */
function bindProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Recognises our health responses, which have `ok` or `error`. */
export const isHealth = (body: unknown): boolean =>
  typeof body === "object" && body !== null && ("ok" in body || "error" in body);

/** The response's JSON; undefined if there is none. Accepts any certificate, because it only identifies the listener. */
function ask(url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return new Promise((resolve) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const options = { headers, rejectUnauthorized: false, timeout: RESPONSE_WITHIN_MS };
    const request = send(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_RESPONSE_BYTES) request.destroy();
      });
      response.once("close", () => resolve(parseJson(text)));
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(undefined));
    request.end();
  });
}
