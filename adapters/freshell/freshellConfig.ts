/**
 * The settings of the Freshell listener. Its variables are the contract's (docs/contracts/freshell.md); `HOST`, `PORT` and
 * `ALLOWED_ORIGINS` belong to the add-in as well, so they count here only when Freshell is served alone.
 */
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import type { WaitLimits } from "../../daemon/waits/waitLimits.ts";
import type { ConfigInputs } from "../../daemon/ops/daemonConfig.ts";
import { runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import { HOST, ORIGINS, pathSetting, PORT, wholeNumber, YES_OR_NO } from "../../daemon/ops/settingSchemas.ts";
import { type FlagSpec, hostFlag, pathFlag, portFlag, type SettingReader } from "../../daemon/ops/settings.ts";
import { isLoopbackAddress } from "../kit/peers/addresses.ts";
import { freshellHome } from "./cli/deviceIdentity.ts";

/** The engine's five, as this adapter's share of them. */
type FreshellWaitLimits = Pick<
  WaitLimits,
  "maxGlobal" | "maxPerTarget" | "maxTimeoutSec" | "maxPatternBytes" | "maxRegexPerTarget"
>;

export interface FreshellConfig {
  readonly host: string;
  readonly port: number;
  /** Absent: nothing is served. */
  readonly token: string | undefined;
  /** Other machines are allowed. */
  readonly allowLan: boolean;
  readonly allowedOrigins: readonly string[];
  readonly tmuxSocketPath: string;
  /** The file of device sessions. */
  readonly sessionsPath: string;
  /** The file of results. */
  readonly resultsPath: string;
  /** `~/.freshell`: devices, remote-control permissions, the audit. */
  readonly homePath: string;
  readonly maxTerminals: number;
  readonly maxConnections: number;
  readonly helloTimeoutMs: number;
  readonly presenceTtlMs: number;
  readonly rpcAckTimeoutMs: number;
  readonly ownerTimeoutMs: number;
  readonly deviceTokenTtlSec: number;
  readonly maxAttachChunkBytes: number;
  readonly waits: FreshellWaitLimits;
  readonly disableRegex: boolean;
}

const DEFAULT_PORT = 3_001;
const MIN_TOKEN_CHARS = 16;
const WEAK_TOKENS: ReadonlySet<string> = new Set(["changeme", "default", "password", "token"]);
const MIN_ATTACH_CHUNK_BYTES = 16_384;

const FLAGS = {
  host: hostFlag("freshell-host", "Freshell's", "FRESHELL_HOST (or HOST with --only freshell), else 127.0.0.1"),
  port: portFlag("freshell-port", "Freshell's", `FRESHELL_PORT (or PORT with --only freshell), else ${DEFAULT_PORT}`),
  tmuxSocket: pathFlag(
    "freshell-tmux-socket",
    "socket of the tmux server of Freshell's terminals",
    "$XDG_RUNTIME_DIR/tmuxwire/freshell.sock",
  ),
} satisfies Record<string, FlagSpec>;
export const FRESHELL_FLAGS: readonly FlagSpec[] = Object.values(FLAGS);

/** As messages name them. */
export const FRESHELL_SETTINGS = {
  host: "HOST or --freshell-host",
  port: "PORT or --freshell-port",
  token: "AUTH_TOKEN",
  tmuxSocket: "--freshell-tmux-socket",
} as const;

/** Why nothing is served. */
export const offBecause = ({ token }: FreshellConfig): string | undefined =>
  token === undefined ? `set AUTH_TOKEN to a secret of at least ${MIN_TOKEN_CHARS} characters to serve it` : undefined;

/** @throws AppError CONFIGURATION_INVALID */
export function readFreshell(settings: SettingReader, inputs: ConfigInputs): FreshellConfig {
  const { env } = inputs;
  const variable = (own: string, shared: string): string => settings.variableOf("freshell", own, shared);
  const count = (key: string, name: string, fallback: number, min = 1, max = 1_000_000): number =>
    settings.read({
      key: `freshell.${key}`,
      variable: name,
      schema: v.pipe(wholeNumber, v.minValue(min), v.maxValue(max)),
      expected: `a whole number from ${min} to ${max}`,
      fallback,
    });
  const isOn = (key: string, name: string): boolean =>
    settings.read({
      key: `freshell.${key}`,
      variable: name,
      ...YES_OR_NO,
      fallback: false,
    });
  const { runtimeDir, stateDir } = runtimePaths(env, inputs.homeDir);
  const allowLan = isOn("allowLan", "FRESHELL_ALLOW_LAN");
  const config: FreshellConfig = {
    host: settings.read({
      key: "freshell.host",
      flags: [FLAGS.host],
      variable: variable("FRESHELL_HOST", "HOST"),
      ...HOST,
      fallback: "127.0.0.1",
    }),
    port: settings.read({
      key: "freshell.port",
      flags: [FLAGS.port],
      variable: variable("FRESHELL_PORT", "PORT"),
      ...PORT,
      fallback: DEFAULT_PORT,
    }),
    // No flag: a command line is visible to everyone on the machine.
    token: settings.read<string | undefined>({
      key: "freshell.token",
      variable: "AUTH_TOKEN",
      schema: v.pipe(
        v.string(),
        v.trim(),
        // It is sent in a header.
        v.regex(/^[\x21-\x7e]+$/),
        v.minLength(MIN_TOKEN_CHARS),
        v.check((token) => !WEAK_TOKENS.has(token.toLowerCase())),
      ),
      expected: `a secret of at least ${MIN_TOKEN_CHARS} printable ASCII characters without spaces, not a word such as changeme`,
      fallback: undefined,
      secret: true,
    }),
    allowLan,
    allowedOrigins: settings.read<readonly string[]>({
      key: "freshell.allowedOrigins",
      variable: variable("FRESHELL_ALLOWED_ORIGINS", "ALLOWED_ORIGINS"),
      ...ORIGINS,
      fallback: [],
    }),
    tmuxSocketPath: settings.read({
      key: "freshell.tmuxSocketPath",
      flags: [FLAGS.tmuxSocket],
      ...pathSetting(inputs),
      fallback: join(runtimeDir, "freshell.sock"),
    }),
    sessionsPath: join(stateDir, "freshell-sessions.json"),
    resultsPath: join(stateDir, "freshell-results.jsonl"),
    homePath: freshellHome({ env, homeDir: inputs.homeDir }),
    maxTerminals: count("maxTerminals", "MAX_TERMINALS", 50, 1, 1_000),
    maxConnections: count("maxConnections", "MAX_CONNECTIONS", 50, 1, 500),
    helloTimeoutMs: count("helloTimeoutMs", "HELLO_TIMEOUT_MS", 5_000),
    presenceTtlMs: count("presenceTtlMs", "PRESENCE_TTL_MS", 15_000),
    rpcAckTimeoutMs: count("rpcAckTimeoutMs", "RPC_ACK_TIMEOUT_MS", 3_000),
    ownerTimeoutMs: count("ownerTimeoutMs", "OWNER_TIMEOUT_MS", 15_000),
    deviceTokenTtlSec: count("deviceTokenTtlSec", "DEVICE_TOKEN_TTL_SEC", 900),
    maxAttachChunkBytes: Math.max(
      MIN_ATTACH_CHUNK_BYTES,
      count("maxAttachChunkBytes", "MAX_WS_ATTACH_CHUNK_BYTES", 512_000, 1, 16_777_216),
    ),
    waits: {
      maxGlobal: count("waits.maxGlobal", "WAIT_MAX_GLOBAL", 512),
      maxPerTarget: count("waits.maxPerTarget", "WAIT_MAX_PER_TARGET", 64),
      maxTimeoutSec: count("waits.maxTimeoutSec", "WAIT_MAX_TIMEOUT_SEC", 3_600),
      maxPatternBytes: count("waits.maxPatternBytes", "WAIT_MAX_PATTERN_BYTES", 4_096),
      maxRegexPerTarget: count("waits.maxRegexPerTarget", "WAIT_MAX_REGEX_PER_TARGET", 16),
    },
    disableRegex: isOn("disableRegex", "FRESHELL_DISABLE_RE2"),
  };
  if (config.token !== undefined && !isThisMachine(config.host) && !allowLan) {
    settings.refuse(
      `${config.host} can be reached from other machines: set FRESHELL_ALLOW_LAN=1 to allow that, ` +
        `or ${FRESHELL_SETTINGS.host} to 127.0.0.1`,
    );
  }
  return config;
}

export const isThisMachine = (host: string): boolean => host === "localhost" || isLoopbackAddress(host);

/** Addresses by which others on its networks reach this machine. */
export const lanAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);
