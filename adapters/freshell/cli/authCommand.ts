/**
 * `auth`: exchanges the server's token for a login of this device, and manages it (seed 002 §12.5). Tokens are never
 * printed.
 */
import type { DeviceSessionResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError, invalidArgument, toAppError } from "../../../protocol/errors.ts";
import { stdinOf } from "../../cli/cliIo.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { deviceIdentity } from "./deviceIdentity.ts";
import { facts, type FreshellCall, freshellCommand, isoTime, post, text, word } from "./freshellCommand.ts";
import { type Credentials, type FreshellSession, headerToken } from "./freshellSession.ts";

interface Login extends Omit<Credentials, "deviceToken" | "refreshToken"> {
  readonly loggedIn: true;
  readonly expired: boolean;
}
type AuthData = Login | { readonly loggedIn: false };

const ACTIONS: Readonly<Record<string, (call: FreshellCall) => Promise<AuthData> | AuthData>> = {
  login,
  status: ({ session }) => shownLogin(loginOf(session)),
  refresh: async ({ session }) => shownLogin(await session.login(loginOf(session).deviceToken)),
  logout,
};

export const authCommand = freshellCommand<AuthData>({
  name: "auth",
  summary: "log this device in at the server, or out",
  details: [
    "login exchanges the server's AUTH_TOKEN for a token of this device, kept in ~/.freshell/cli-auth.json; status shows when " +
      "it expires, refresh renews it (other commands do so when it is due), logout ends it and removes the file.",
  ],
  positionals: [word("ACTION", "what to do", { choices: Object.keys(ACTIONS) })],
  options: [
    text("auth-token", "TOKEN", "login: the server's token, - for standard input; other users can see command lines"),
    text("from-env", "VARIABLE", "login: the variable that holds the server's token", { default: "AUTH_TOKEN" }),
  ],
  examples: [
    ["auth login --from-env AUTH_TOKEN", "the server's token is in the environment"],
    ["auth login --auth-token - <token", "the server's token is in a file"],
    ["auth status", "the server, this device, when the token expires"],
  ],
  perform: (call) => {
    const [action = ""] = call.positionals;
    const given = ["auth-token", "from-env"].find((name) => call.options.text(name) !== undefined);
    if (given !== undefined && action !== "login") throw invalidArgument(`--${given} is for login, not for ${action}`);
    return ACTIONS[action]!(call);
  },
  show: (data) => (data.loggedIn ? loginText(data) : "logged out\n"),
});

/** A refused login leaves the existing one. */
async function login(call: FreshellCall): Promise<Login> {
  const { session } = call;
  const token = await bootstrapToken(call);
  const device = deviceIdentity(call.io);
  const request = post("/api/device-sessions", { ...device, deviceType: "cli" });
  const opened = await session.send<DeviceSessionResponse>(request, token);
  return shownLogin(session.keep(session.url, device.deviceLabel, opened));
}

async function bootstrapToken({ io, options }: CommandCall): Promise<string> {
  const [given, variable] = [options.text("auth-token"), options.text("from-env")];
  if (given !== undefined && variable !== undefined) throw invalidArgument("give --auth-token or --from-env, not both");
  if (given === "-") {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stdinOf(io)) chunks.push(Buffer.from(chunk));
    return headerToken(Buffer.concat(chunks).toString("utf8").trim(), "standard input");
  }
  if (given !== undefined) return headerToken(given, "--auth-token");
  const name = variable ?? "AUTH_TOKEN";
  const value = io.env[name];
  if (value !== undefined && value !== "") return headerToken(value, name);
  throw invalidArgument(`the variable ${JSON.stringify(name)} is not set: set it, or give --from-env VARIABLE`);
}

/** A session unknown to the server counts as logged out; without a response the file stays, for a retry. */
async function logout({ session }: FreshellCall): Promise<AuthData> {
  if (session.credentials === undefined) return { loggedIn: false };
  const request = { method: "DELETE", path: "/api/device-sessions/current" } as const;
  try {
    await session.withLogin(({ url, deviceToken }) => session.send(request, deviceToken, url));
  } catch (error) {
    if (!["UNAUTHORIZED", "NOT_FOUND"].includes(toAppError(error).code)) throw error;
  }
  session.forget();
  return { loggedIn: false };
}

function loginOf({ credentials, url }: FreshellSession): Credentials {
  if (credentials !== undefined) return credentials;
  throw new AppError("UNAUTHORIZED", `not logged in at ${url}: run \`freshell auth login --from-env AUTH_TOKEN\``);
}

function shownLogin({ url, deviceId, deviceLabel, expiresAt, scopes }: Credentials): Login {
  return { loggedIn: true, url, deviceId, deviceLabel, expiresAt, expired: expiresAt <= Date.now(), scopes };
}

const loginText = ({ url, deviceId, deviceLabel, expiresAt, expired, scopes }: Login): string =>
  facts(13, [
    ["server", url],
    ["device", `${deviceLabel} (${deviceId})`],
    ["token until", `${isoTime(expiresAt)}${expired ? " (expired; the next command renews it)" : ""}`],
    ["scopes", scopes.join(" ")],
  ]);
