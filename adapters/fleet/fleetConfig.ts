/** The settings of streams on NATS: where the servers are, who we are there, what is published and how long it is kept. */
import { hostname } from "node:os";
import * as v from "valibot";
import { type FlagSpec, type SettingInputs, SettingReader } from "../../daemon/ops/settings.ts";
import { pathSetting, textList, wholeNumber } from "../../daemon/ops/settingSchemas.ts";
import { NATS_CREDENTIALS_FLAG, NATS_FLAG } from "./natsFlags.ts";

/** How a connection to NATS is made. */
export interface NatsAccess {
  /** Without user and password. */
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
  /** Of a file as `nsc` writes it. */
  readonly credentialsPath: string | undefined;
  /** Of a file with a seed. */
  readonly nkeyPath: string | undefined;
  readonly tls: TlsPaths;
  /** JetStream's domain, where the servers are leaf nodes of those that keep the streams. */
  readonly domain: string | undefined;
}

interface TlsPaths {
  readonly caPath: string | undefined;
  readonly certificatePath: string | undefined;
  readonly keyPath: string | undefined;
}

/** How long and how often the streams keep what they get. */
export interface Retention {
  readonly ageMs: number;
  /** Of one host's output. */
  readonly bytes: number;
  readonly replicas: number;
}

export interface FleetConfig {
  /** Undefined: NATS is not used. */
  readonly access: NatsAccess | undefined;
  /** This daemon's name in the fleet: one daemon has it at a time. */
  readonly host: string;
  /** Names of tmux servers. */
  readonly publish: readonly string[];
  /** Patterns of panes' ids and sessions' names; undefined: all panes. */
  readonly panes: string | undefined;
  /** Operations that are answered; empty: none. */
  readonly calls: readonly string[];
  /** How long output waits for more. */
  readonly coalesceMs: number;
  /** For the output of all panes that is on its way. */
  readonly budgetBytes: number;
  readonly retention: Retention;
}

const FLAGS = {
  nats: NATS_FLAG,
  publish: {
    name: "publish",
    type: "text",
    value: "SERVERS",
    description: "tmux servers whose panes are published on NATS, with all that they print; comma-separated",
    default: "TMUXWIRE_NATS_PUBLISH, else none",
  },
  host: {
    name: "nats-host",
    type: "text",
    value: "NAME",
    description: "this daemon's name in the fleet",
    default: "TMUXWIRE_NATS_HOST, else the host name",
  },
  calls: {
    name: "nats-calls",
    type: "text",
    value: "OPERATIONS",
    description: "operations that a program may call over NATS on the published servers, such as input,capture, or all",
    default: "TMUXWIRE_NATS_CALLS, else none",
  },
  credentials: NATS_CREDENTIALS_FLAG,
} satisfies Record<string, FlagSpec>;

export const FLEET_FLAGS: readonly FlagSpec[] = Object.values(FLAGS);
export const NATS_SETTINGS = {
  servers: "--nats or TMUXWIRE_NATS",
  publish: "--publish or TMUXWIRE_NATS_PUBLISH",
  host: "--nats-host or TMUXWIRE_NATS_HOST",
} as const;

const MIB = 1_048_576;
const HOUR_MS = 3_600_000;
/** Below that a stream would end before a slow reader has read it. */
const MIN_KEEP_MINUTES = 1;
const MAX_KEEP_MINUTES = 43_200;
/** How long a pane's output may wait at most: longer would be no stream. */
const MAX_COALESCE_MS = 1_000;

interface PathInputs {
  readonly cwd: string;
  readonly homeDir: string;
}

/** @throws AppError CONFIGURATION_INVALID */
export function readFleet(settings: SettingReader, inputs: PathInputs): FleetConfig {
  const access = readAccess(settings, inputs);
  const publish = list(settings, "nats.publish", FLAGS.publish, "TMUXWIRE_NATS_PUBLISH", "names of tmux servers");
  const host = settings.read<string>({
    key: "nats.host",
    flags: [FLAGS.host],
    variable: "TMUXWIRE_NATS_HOST",
    schema: v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(255)),
    expected: "a name of at most 255 characters",
    fallback: hostname(),
  });
  const panes = settings.read<string | undefined>({
    key: "nats.panes",
    schema: v.pipe(v.string(), v.trim(), v.nonEmpty()),
    expected: "patterns of session names or pane ids, comma-separated, * for anything",
    fallback: undefined,
  });
  const calls = list(settings, "nats.calls", FLAGS.calls, "TMUXWIRE_NATS_CALLS", "names of operations");
  const number = (key: string, fallback: number, least: number, most: number, unit: string): number =>
    settings.read({
      key,
      schema: v.pipe(wholeNumber, v.minValue(least), v.maxValue(most)),
      expected: `${unit} from ${least} to ${most}`,
      fallback,
    });
  const config = {
    access,
    host,
    publish,
    panes,
    calls,
    coalesceMs: number("nats.coalesceMs", 20, 0, MAX_COALESCE_MS, "milliseconds"),
    budgetBytes: number("nats.budgetBytes", 32 * MIB, MIB, 1_024 * MIB, "bytes"),
    retention: {
      ageMs: number("nats.keepMinutes", HOUR_MS / 60_000, MIN_KEEP_MINUTES, MAX_KEEP_MINUTES, "minutes") * 60_000,
      bytes: number("nats.keepBytes", 1_024 * MIB, 4 * MIB, 1_099_511_627_776, "bytes"),
      replicas: number("nats.replicas", 1, 1, 5, "a number"),
    },
  };
  if (access === undefined && (publish.length > 0 || calls.length > 0)) {
    settings.refuse(`nothing can be published or called without ${NATS_SETTINGS.servers}: name the NATS servers`);
  }
  return config;
}

/** @throws AppError CONFIGURATION_INVALID */
function readAccess(settings: SettingReader, inputs: PathInputs): NatsAccess | undefined {
  const urls = settings.read<readonly string[]>({
    key: "nats.servers",
    flags: [FLAGS.nats],
    variable: "TMUXWIRE_NATS",
    schema: v.pipe(textList, v.everyItem(isNatsUrl)),
    expected: "nats:// or tls:// URLs, comma-separated; a % in a password is %25, a comma %2C",
    // They may hold a password.
    secret: true,
    fallback: [],
  });
  const path = (key: string, variable: string, flag?: FlagSpec): string | undefined =>
    settings.read<string | undefined>({
      key,
      ...(flag === undefined ? {} : { flags: [flag] }),
      variable,
      ...pathSetting(inputs),
      fallback: undefined,
    });
  const token = settings.read<string | undefined>({
    key: "nats.token",
    variable: "TMUXWIRE_NATS_TOKEN",
    schema: v.pipe(v.string(), v.nonEmpty()),
    expected: "a token",
    secret: true,
    fallback: undefined,
  });
  const domain = settings.read<string | undefined>({
    key: "nats.domain",
    variable: "TMUXWIRE_NATS_DOMAIN",
    schema: v.pipe(v.string(), v.regex(/^[^\s.*>]{1,255}$/)),
    expected: "a domain of JetStream: no dots, blanks, * or >",
    fallback: undefined,
  });
  const rest = {
    token,
    domain,
    credentialsPath: path("nats.credentials", "TMUXWIRE_NATS_CREDS", FLAGS.credentials),
    nkeyPath: path("nats.nkey", "TMUXWIRE_NATS_NKEY"),
    tls: {
      caPath: path("nats.tls.ca", "TMUXWIRE_NATS_CA"),
      certificatePath: path("nats.tls.certificate", "TMUXWIRE_NATS_CERT"),
      keyPath: path("nats.tls.key", "TMUXWIRE_NATS_KEY"),
    },
  };
  const [first] = urls;
  if (first === undefined) return undefined;
  const { username, password } = new URL(first);
  return {
    servers: urls.map(withoutUser),
    user: username === "" ? undefined : decodeURIComponent(username),
    password: password === "" ? undefined : decodeURIComponent(password),
    ...rest,
  };
}

const list = (
  settings: SettingReader,
  key: string,
  flag: FlagSpec,
  variable: string,
  what: string,
): readonly string[] =>
  settings.read<readonly string[]>({
    key,
    flags: [flag],
    variable,
    schema: textList,
    expected: `${what}, comma-separated`,
    fallback: [],
  });

function isNatsUrl(text: string): boolean {
  try {
    const { protocol, hostname: named, pathname, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return ["nats:", "tls:"].includes(protocol) && named !== "" && ["", "/"].includes(pathname);
  } catch {
    return false;
  }
}

function withoutUser(text: string): string {
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
}

/** Nobody expects it without its settings. */
export function offBecause({ access, publish }: FleetConfig): string | undefined {
  if (access === undefined) return "";
  return publish.length === 0 ? `name the tmux servers to publish with ${NATS_SETTINGS.publish}` : undefined;
}

/** For a command that reads from NATS. Undefined: no servers are named. @throws AppError CONFIGURATION_INVALID */
export const loadNatsAccess = (inputs: PathInputs & SettingInputs): NatsAccess | undefined =>
  readAccess(new SettingReader(inputs), inputs);
