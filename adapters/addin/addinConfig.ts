/**
 * The settings of the add-in's bridge: where it listens, tmux or the stub, its certificate. Its contract fixes the names and
 * defaults of the variables (docs/contracts/addin.md §1, "env").
 */
import { join } from "node:path";
import * as v from "valibot";
import type { ConfigInputs, DaemonConfig } from "../../daemon/ops/daemonConfig.ts";
import { baseDir, runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import { HOST, lowerCase, ORIGINS, pathSetting, PORT, YES_OR_NO } from "../../daemon/ops/settingSchemas.ts";
import {
  type FlagSpec,
  hostFlag,
  pathFlag,
  portFlag,
  type SettingInputs,
  type SettingReader,
} from "../../daemon/ops/settings.ts";
import type { CertificateConfig } from "../kit/trust/certificates.ts";

export interface AddinConfig {
  /** Asked for by name, or configured explicitly. */
  readonly isWanted: boolean;
  /** Accepted in requests besides the loopback names. */
  readonly host: string;
  readonly port: number;
  readonly https: boolean;
  readonly mode: "tmux" | "stub";
  readonly token: string | undefined;
  readonly socketPath: string;
  readonly commandTimeoutMs: number;
  readonly allowedOrigins: readonly string[];
  /** Allows a request without an Origin header if it carries the token. */
  readonly allowNoOrigin: boolean;
  readonly certificates: CertificateConfig;
}

/** The add-in's development server, on its current and former port, and its hosted page. */
export const DEFAULT_ALLOWED_ORIGINS = [
  "https://localhost:3141",
  "https://localhost:3000",
  "https://pi-for-excel.vercel.app",
] as const;
const DEFAULT_PORT = 3_341;
const DEFAULT_COMMAND_TIMEOUT_MS = 10_000;
/** Below this the contract treats a value as a mistake and uses the default. */
const MIN_COMMAND_TIMEOUT_MS = 500;
const MAX_COMMAND_TIMEOUT_MS = 120_000;

const FLAGS = {
  https: { name: "https", type: "flag", description: "serve the add-in over https, which is the default" },
  http: { name: "http", type: "flag", description: "serve the add-in over plain http", negates: true },
  host: hostFlag("addin-host", "the add-in's", "HOST, else localhost, or 127.0.0.1 with --http"),
  port: portFlag("addin-port", "the add-in's", `PORT, else ${DEFAULT_PORT}`),
  mode: {
    name: "addin-mode",
    type: "text",
    value: "MODE",
    description: "tmux, or stub: in memory, runs nothing",
    default: "TMUX_BRIDGE_MODE, else tmux",
    complete: ["tmux", "stub"],
  },
  socket: pathFlag(
    "addin-socket",
    "socket of the add-in's tmux server",
    "TMUX_BRIDGE_SOCKET_PATH, else $TMPDIR/pi-for-excel-tmux-bridge/tmux.sock",
  ),
} satisfies Record<string, FlagSpec>;
export const ADDIN_FLAGS: readonly FlagSpec[] = Object.values(FLAGS);

/** The settings' names in messages. */
export const ADDIN_SETTINGS = {
  host: "HOST or --addin-host",
  port: "PORT or --addin-port",
  socket: "--addin-socket or TMUX_BRIDGE_SOCKET_PATH",
  token: "TMUX_BRIDGE_TOKEN",
} as const;

/** @throws AppError CONFIGURATION_INVALID */
export function readAddin(
  settings: SettingReader,
  inputs: ConfigInputs,
  { wanted }: Pick<DaemonConfig, "wanted">,
): AddinConfig {
  const path = pathSetting(inputs);
  const service = inputs.defaults === "service";
  const https = settings.read({
    key: "addin.https",
    flags: [FLAGS.https, FLAGS.http],
    variable: "HTTPS",
    ...YES_OR_NO,
    fallback: service,
  });
  const socketDir = settings.read({
    key: "addin.socketDir",
    variable: "TMUX_BRIDGE_SOCKET_DIR",
    ...path,
    fallback: join(inputs.tmpDir, "pi-for-excel-tmux-bridge"),
  });
  const config = {
    https,
    host: settings.read({
      key: "addin.host",
      flags: [FLAGS.host],
      variable: "HOST",
      ...HOST,
      fallback: https ? "localhost" : "127.0.0.1",
    }),
    port: settings.read({
      key: "addin.port",
      flags: [FLAGS.port],
      variable: "PORT",
      ...PORT,
      fallback: DEFAULT_PORT,
    }),
    mode: settings.read({
      key: "addin.mode",
      flags: [FLAGS.mode],
      variable: "TMUX_BRIDGE_MODE",
      schema: v.pipe(lowerCase, v.picklist(["tmux", "stub"])),
      expected: '"tmux" or "stub"',
      fallback: service ? ("tmux" as const) : ("stub" as const),
    }),
    // Not a flag, because every user of the machine can read command lines.
    token: settings.read<string | undefined>({
      key: "addin.token",
      variable: "TMUX_BRIDGE_TOKEN",
      schema: v.pipe(v.string(), v.trim(), v.nonEmpty()),
      expected: "non-empty text",
      fallback: undefined,
      secret: true,
    }),
    socketPath: settings.read({
      key: "addin.socketPath",
      flags: [FLAGS.socket],
      variable: "TMUX_BRIDGE_SOCKET_PATH",
      ...path,
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
      ...ORIGINS,
      schema: origins,
      fallback: DEFAULT_ALLOWED_ORIGINS,
    }),
    allowNoOrigin: settings.read({
      key: "addin.allowNoOrigin",
      variable: "TMUX_BRIDGE_ALLOW_NO_ORIGIN",
      ...YES_OR_NO,
      fallback: false,
    }),
    certificates: readCertificates(settings, inputs, path),
  };
  // HOST, PORT and the like are set for many programs, so they do not mean that the bridge is wanted.
  return { ...config, isWanted: wanted.has("addin") || settings.isConfigured("addin.", /^TMUX_BRIDGE_/) };
}

function readCertificates(
  settings: SettingReader,
  inputs: ConfigInputs,
  path: ReturnType<typeof pathSetting>,
): CertificateConfig {
  const { env, homeDir, platform } = inputs;
  const read = (key: string, variable: string): string | undefined =>
    settings.read<string | undefined>({ key, variable, ...path, fallback: undefined });
  const dir = read("certificates.dir", "PI_FOR_EXCEL_CERT_DIR");
  const inDir = (name: string): string | undefined => (dir === undefined ? undefined : join(dir, name));
  const keyPath = read("certificates.keyPath", "PI_FOR_EXCEL_KEY_PATH") ?? inDir("key.pem");
  const certPath = read("certificates.certPath", "PI_FOR_EXCEL_CERT_PATH") ?? inDir("cert.pem");
  if ((keyPath === undefined) !== (certPath === undefined)) {
    const [given, missing] = keyPath === undefined ? ["CERT", "KEY"] : ["KEY", "CERT"];
    settings.refuse(
      `PI_FOR_EXCEL_${given}_PATH is set without PI_FOR_EXCEL_${missing}_PATH: set both, or PI_FOR_EXCEL_CERT_DIR`,
    );
  }
  return {
    configured: keyPath === undefined || certPath === undefined ? undefined : { keyPath, certPath },
    bridgeDir: join(homeDir, ".pi-for-excel", "certs"),
    mkcertRoot: settings.read({
      key: "certificates.mkcertRoot",
      variable: "CAROOT",
      ...path,
      fallback: mkcertRoot(env, homeDir, platform),
    }),
    stateDir: join(runtimePaths(env, homeDir).stateDir, "certs"),
  };
}

/** mkcert's own rule for its root directory. */
function mkcertRoot(env: SettingInputs["env"], homeDir: string, platform: NodeJS.Platform): string {
  if (platform === "darwin") return join(homeDir, "Library", "Application Support", "mkcert");
  if (platform === "win32") return join(env["LOCALAPPDATA"] ?? join(homeDir, "AppData", "Local"), "mkcert");
  return join(baseDir(env["XDG_DATA_HOME"], join(homeDir, ".local", "share")), "mkcert");
}

const commandTimeout = v.pipe(
  v.union([v.number(), v.string()]),
  v.transform((value) => Number.parseInt(String(value), 10)),
  v.transform((ms) =>
    ms >= MIN_COMMAND_TIMEOUT_MS ? Math.min(ms, MAX_COMMAND_TIMEOUT_MS) : DEFAULT_COMMAND_TIMEOUT_MS,
  ),
);

const origins = v.pipe(
  ORIGINS.schema,
  v.transform((list): readonly string[] => (list.length === 0 ? DEFAULT_ALLOWED_ORIGINS : list)),
);
