/**
 * The daemon's configuration: a pure function of what the executable was given. Nothing here reads the process's
 * environment or the disk, so every rule can be tested by calling it. The names and defaults of the add-in's variables
 * are its contract's (docs/contracts/addin.md §1, "env").
 */
import { isAbsolute, join } from "node:path";
import * as v from "valibot";
import { AppError } from "../../protocol/errors.ts";
import type { DashboardConfig } from "./dashboardConfig.ts";
import { readDashboard } from "./dashboardConfig.ts";
import type { LogLevel } from "./log.ts";
import { LOG_LEVELS } from "./log.ts";
import type { NativeConfig } from "./nativeConfig.ts";
import { readNative } from "./nativeConfig.ts";
import type { AllowedUids } from "./peerConfig.ts";
import { readAllowedUids } from "./peerConfig.ts";
import type { PathSchema } from "./settingSchemas.ts";
import { hostName, isOrigin, lowerCase, pathSchema, portNumber, textList } from "./settingSchemas.ts";
import type { SettingInputs, SettingReport } from "./settings.ts";
import { SettingReader } from "./settings.ts";
import type { TeamConfig } from "./teamConfig.ts";
import { readTeam } from "./teamConfig.ts";

export interface ConfigInputs extends SettingInputs {
  readonly cwd: string;
  readonly homeDir: string;
  readonly tmpDir: string;
  readonly platform: NodeJS.Platform;
  /** Of the user we run as, where there are users. */
  readonly uid?: number | undefined;
  /** `service` for the installed commands (tmux over https); `raw` for the seed's bare adapter (stub over http). */
  readonly defaults: "service" | "raw";
}

export type AddinMode = "tmux" | "stub";

export interface AddinConfig {
  readonly host: string;
  readonly port: number;
  readonly https: boolean;
  readonly mode: AddinMode;
  readonly token: string | undefined;
  readonly socketPath: string;
  readonly commandTimeoutMs: number;
  readonly allowedOrigins: readonly string[];
  readonly allowNoOrigin: boolean;
}

/** Where a certificate may come from, in this order. */
export interface CertificateConfig {
  readonly configured: { readonly keyPath: string; readonly certPath: string } | undefined;
  /** The bridge's own directory, `~/.pi-for-excel/certs`. */
  readonly bridgeDir: string;
  /** mkcert's root directory, whether or not it is there. */
  readonly mkcertRoot: string;
  /** Ours. */
  readonly stateDir: string;
}

export interface Config {
  readonly native: NativeConfig;
  readonly addin: AddinConfig;
  readonly dashboard: DashboardConfig;
  readonly team: TeamConfig;
  readonly certificates: CertificateConfig;
  /** For the listeners that have no token. */
  readonly allowUids: AllowedUids;
  readonly logLevel: LogLevel;
  /** What `tmuxwire config` shows. */
  readonly settings: readonly SettingReport[];
}

/** The add-in's development server, at its port of today and its former one, and its hosted page. */
export const DEFAULT_ALLOWED_ORIGINS = [
  "https://localhost:3141",
  "https://localhost:3000",
  "https://pi-for-excel.vercel.app",
] as const;
export const DEFAULT_ADDIN_PORT = 3_341;
const DEFAULT_COMMAND_TIMEOUT_MS = 10_000;
/** Below this the contract takes a value for a mistake and uses the default. */
const MIN_COMMAND_TIMEOUT_MS = 500;
const MAX_COMMAND_TIMEOUT_MS = 120_000;

/** Where the configuration file is looked for. */
export function configFilePath(env: SettingInputs["env"], homeDir: string): string {
  return join(baseDir(env["XDG_CONFIG_HOME"], join(homeDir, ".config")), "tmuxwire", "config.json");
}

/** @throws AppError CONFIGURATION_INVALID with one line that names the setting and says what it must be. */
export function loadConfig(inputs: ConfigInputs): Config {
  const settings = new SettingReader(inputs);
  const path = pathSchema(inputs);
  const certificates = readCertificates(settings, inputs, path);
  const native = readNative(settings, inputs);
  const addin = readAddin(settings, inputs, path);
  const dashboard = readDashboard(settings, inputs, native.guests);
  const team = readTeam(settings, inputs);
  const allowUids = readAllowedUids(settings);
  const logLevel = settings.read<LogLevel>({
    key: "log.level",
    flag: "log-level",
    variable: "TMUXWIRE_LOG_LEVEL",
    schema: v.pipe(lowerCase, v.picklist(LOG_LEVELS)),
    expected: `one of ${LOG_LEVELS.join(", ")}`,
    fallback: "info",
  });
  settings.requireFileUnderstood();
  return { native, addin, dashboard, team, certificates, allowUids, logLevel, settings: settings.reports };
}

function readAddin(settings: SettingReader, inputs: ConfigInputs, path: PathSchema): AddinConfig {
  const service = inputs.defaults === "service";
  const https = readHttps(settings, inputs);
  const socketDir = settings.read({
    key: "addin.socketDir",
    variable: "TMUX_BRIDGE_SOCKET_DIR",
    schema: path,
    expected: "a path",
    fallback: join(inputs.tmpDir, "pi-for-excel-tmux-bridge"),
  });
  return {
    https,
    host: settings.read({
      key: "addin.host",
      flag: "addin-host",
      variable: "HOST",
      schema: hostName,
      expected: "a host name or address, without scheme, port or brackets",
      fallback: https ? "localhost" : "127.0.0.1",
    }),
    port: settings.read({
      key: "addin.port",
      flag: "addin-port",
      variable: "PORT",
      schema: portNumber,
      expected: "a whole number from 0 to 65535",
      fallback: DEFAULT_ADDIN_PORT,
    }),
    mode: settings.read({
      key: "addin.mode",
      flag: "addin-mode",
      variable: "TMUX_BRIDGE_MODE",
      schema: v.pipe(lowerCase, v.picklist(["tmux", "stub"])),
      expected: '"tmux" or "stub"',
      fallback: service ? ("tmux" as const) : ("stub" as const),
    }),
    // No flag: a command line is visible to everyone on the machine.
    token: settings.read<string | undefined>({
      key: "addin.token",
      variable: "TMUX_BRIDGE_TOKEN",
      schema: v.pipe(v.string(), v.trim(), v.nonEmpty()),
      expected: "text that is not blank",
      fallback: undefined,
      secret: true,
    }),
    socketPath: settings.read({
      key: "addin.socketPath",
      flag: "addin-socket",
      variable: "TMUX_BRIDGE_SOCKET_PATH",
      schema: path,
      expected: "a path",
      fallback: join(socketDir, "tmux.sock"),
    }),
    commandTimeoutMs: settings.read({
      key: "addin.commandTimeoutMs",
      variable: "TMUX_BRIDGE_COMMAND_TIMEOUT_MS",
      schema: commandTimeout,
      expected: "milliseconds, a number",
      fallback: DEFAULT_COMMAND_TIMEOUT_MS,
    }),
    allowedOrigins: settings.read<readonly string[]>({
      key: "addin.allowedOrigins",
      variable: "ALLOWED_ORIGINS",
      schema: origins,
      expected: "origins as a browser sends them, scheme://host[:port] in lower case without a path, comma between",
      fallback: DEFAULT_ALLOWED_ORIGINS,
    }),
    allowNoOrigin: settings.read({
      key: "addin.allowNoOrigin",
      variable: "TMUX_BRIDGE_ALLOW_NO_ORIGIN",
      schema: yesOrNo,
      expected: "1, true, 0 or false",
      fallback: false,
    }),
  };
}

function readHttps(settings: SettingReader, inputs: ConfigInputs): boolean {
  const { options } = inputs;
  if (options["https"] === true && options["http"] === true) {
    throw new AppError("CONFIGURATION_INVALID", "--https and --http contradict each other: give one of them");
  }
  const flag = options["http"] === true ? "http" : "https";
  return settings.read({
    key: "addin.https",
    flag,
    variable: "HTTPS",
    schema: v.pipe(
      yesOrNo,
      v.transform((yes) => (flag === "http" ? !yes : yes)),
    ),
    expected: "1, true, 0 or false",
    fallback: inputs.defaults === "service",
  });
}

function readCertificates(settings: SettingReader, inputs: ConfigInputs, path: PathSchema): CertificateConfig {
  const { env, homeDir, platform } = inputs;
  const read = (key: string, variable: string): string | undefined =>
    settings.read<string | undefined>({ key, variable, schema: path, expected: "a path", fallback: undefined });
  const dir = read("certificates.dir", "PI_FOR_EXCEL_CERT_DIR");
  const inDir = (name: string): string | undefined => (dir === undefined ? undefined : join(dir, name));
  const keyPath = read("certificates.keyPath", "PI_FOR_EXCEL_KEY_PATH") ?? inDir("key.pem");
  const certPath = read("certificates.certPath", "PI_FOR_EXCEL_CERT_PATH") ?? inDir("cert.pem");
  if ((keyPath === undefined) !== (certPath === undefined)) {
    const [given, missing] = keyPath === undefined ? ["CERT", "KEY"] : ["KEY", "CERT"];
    throw new AppError(
      "CONFIGURATION_INVALID",
      `PI_FOR_EXCEL_${given}_PATH is set without PI_FOR_EXCEL_${missing}_PATH: set both, or PI_FOR_EXCEL_CERT_DIR`,
    );
  }
  return {
    configured: keyPath === undefined || certPath === undefined ? undefined : { keyPath, certPath },
    bridgeDir: join(homeDir, ".pi-for-excel", "certs"),
    mkcertRoot: settings.read({
      key: "certificates.mkcertRoot",
      variable: "CAROOT",
      schema: path,
      expected: "a path",
      fallback: mkcertRoot(env, homeDir, platform),
    }),
    stateDir: join(baseDir(env["XDG_STATE_HOME"], join(homeDir, ".local", "state")), "tmuxwire", "certs"),
  };
}

/** mkcert's own rule for its root directory. */
function mkcertRoot(env: SettingInputs["env"], homeDir: string, platform: NodeJS.Platform): string {
  if (platform === "darwin") return join(homeDir, "Library", "Application Support", "mkcert");
  if (platform === "win32") return join(env["LOCALAPPDATA"] ?? join(homeDir, "AppData", "Local"), "mkcert");
  return join(baseDir(env["XDG_DATA_HOME"], join(homeDir, ".local", "share")), "mkcert");
}

/** An XDG base directory; relative ones are ignored, as its specification says. */
const baseDir = (given: string | undefined, fallback: string): string =>
  given !== undefined && isAbsolute(given) ? given : fallback;

const yesOrNo = v.union([
  v.boolean(),
  v.pipe(
    lowerCase,
    v.picklist(["1", "true", "0", "false"]),
    v.transform((text) => text === "1" || text === "true"),
  ),
]);

const commandTimeout = v.pipe(
  v.union([v.number(), v.string()]),
  v.transform((value) => Number.parseInt(String(value), 10)),
  v.transform((ms) =>
    ms >= MIN_COMMAND_TIMEOUT_MS ? Math.min(ms, MAX_COMMAND_TIMEOUT_MS) : DEFAULT_COMMAND_TIMEOUT_MS,
  ),
);

const origins = v.pipe(
  textList,
  v.transform((list): readonly string[] => (list.length === 0 ? DEFAULT_ALLOWED_ORIGINS : list)),
  v.everyItem(isOrigin),
);
