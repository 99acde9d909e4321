/**
 * `auth`: exchanges the server's token for a login of this device, and manages it (seed 002 §12.5). Tokens are never
 * printed.
 */
import type { DeviceSessionResponse, FreshellOk } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { printable } from "../../cli/textTable.ts";
import { failureOf } from "./commandFailure.ts";
import { text } from "./commandOptions.ts";
import type { Credentials } from "./loginFile.ts";
import { removeCredentials } from "./loginFile.ts";
import { deviceIdentity } from "./deviceIdentity.ts";
import { type FreshellCall, freshellCommand } from "./freshellCommand.ts";
import { type FreshellSession, headerToken } from "./freshellSession.ts";

const ACTIONS = ["login", "status", "refresh", "logout"] as const;

interface Login {
  readonly loggedIn: true;
  readonly url: string;
  readonly deviceId: string;
  readonly deviceLabel: string;
  /** Unix milliseconds; the login itself is renewed before. */
  readonly expiresAt: number;
  readonly expired: boolean;
  readonly scopes: readonly string[];
}
type AuthData = Login | { readonly loggedIn: false };

export const authCommand = freshellCommand<AuthData>({
  name: "auth",
  summary: "log this device in at the server, or out",
  details: [
    "login exchanges the server's AUTH_TOKEN for a token of this device, kept in ~/.freshell/cli-auth.json; status shows when " +
      "it expires, refresh renews it (other commands do so when it is due), logout ends it and removes the file.",
  ],
  positionals: [{ name: "ACTION", description: "what to do", choices: ACTIONS }],
  options: [
    text("auth-token", "TOKEN", "login: the server's token, - for standard input; other users can see command lines"),
    text("from-env", "VARIABLE", "login: the variable that holds the server's token", { default: "AUTH_TOKEN" }),
  ],
  examples: [
    { line: "freshell auth login --from-env AUTH_TOKEN", does: "the server's token is in the environment" },
    { line: "freshell auth login --auth-token - <token", does: "the server's token is in a file" },
    { line: "freshell auth status", does: "the server, this device, when the token expires" },
  ],
  perform: async (call) => {
    const { session } = call;
    const action = call.positionals[0] as (typeof ACTIONS)[number];
    if (action !== "login") refuseLoginOptions(call, action);
    switch (action) {
      case "login":
        return login(call);
      case "status":
        return shownLogin(loginOf(session));
      case "refresh":
        return shownLogin(await session.renew(loginOf(session)));
      case "logout":
        return logout(call);
    }
  },
  show: (data) => (data.loggedIn ? loginText(data) : "logged out\n"),
});

/** A refused login leaves the existing one. */
async function login(call: FreshellCall): Promise<Login> {
  const { session } = call;
  const token = await bootstrapToken(call);
  const device = deviceIdentity(call.io);
  const request = { method: "POST", path: "/api/device-sessions", body: { ...device, deviceType: "cli" } } as const;
  const opened = await session.bearing<DeviceSessionResponse>(token, request);
  return shownLogin(session.keep(session.url, device.deviceLabel, opened));
}

async function bootstrapToken({ io, options }: CommandCall): Promise<string> {
  const [given, variable] = [options.text("auth-token"), options.text("from-env")];
  if (given !== undefined && variable !== undefined) {
    throw new AppError("INVALID_ARGUMENT", "give --auth-token or --from-env, not both");
  }
  if (given === "-") return headerToken((await readAll(io.stdin)).trim(), "standard input");
  if (given !== undefined) return headerToken(given, "--auth-token");
  const name = variable ?? "AUTH_TOKEN";
  const value = io.env[name];
  if (value !== undefined && value !== "") return headerToken(value, name);
  throw new AppError(
    "INVALID_ARGUMENT",
    `the variable ${JSON.stringify(name)} is not set: set it, or give --from-env VARIABLE`,
  );
}

async function readAll(stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** A session unknown to the server counts as logged out; without a response the file stays, for a retry. */
async function logout({ io, session }: FreshellCall): Promise<AuthData> {
  const { credentials } = session;
  if (credentials === undefined) return { loggedIn: false };
  try {
    await session.callLoggedIn<FreshellOk>(credentials, { method: "DELETE", path: "/api/device-sessions/current" });
  } catch (error) {
    if (!["UNAUTHORIZED", "NOT_FOUND"].includes(failureOf(error).fault.code)) throw error;
  }
  removeCredentials(io);
  return { loggedIn: false };
}

function loginOf({ credentials, url }: FreshellSession): Credentials {
  if (credentials !== undefined) return credentials;
  throw new AppError("UNAUTHORIZED", `not logged in at ${url}: run \`freshell auth login --from-env AUTH_TOKEN\``);
}

function shownLogin({ url, deviceId, deviceLabel, expiresAt, scopes }: Credentials): Login {
  return { loggedIn: true, url, deviceId, deviceLabel, expiresAt, expired: expiresAt <= Date.now(), scopes };
}

function loginText({ url, deviceId, deviceLabel, expiresAt, expired, scopes }: Login): string {
  const until = `${new Date(expiresAt).toISOString()}${expired ? " (expired; the next command renews it)" : ""}`;
  const rows = [
    ["server", url],
    ["device", `${deviceLabel} (${deviceId})`],
    ["token until", until],
    ["scopes", scopes.join(" ")],
  ] as const;
  return rows.map(([name, value]) => `${name.padEnd(13)}${printable(value)}\n`).join("");
}

function refuseLoginOptions({ options }: CommandCall, action: string): void {
  const given = ["auth-token", "from-env"].find((name) => options.text(name) !== undefined);
  if (given !== undefined) throw new AppError("INVALID_ARGUMENT", `--${given} is for login, not for ${action}`);
}
