import { describe, expect, test, vi } from "vitest";
import { type Config, CONFIG_OPTIONS, loadConfig } from "../../../../../adapters/commands/connection/configuration.ts";
import { configFilePath } from "../../../../../adapters/commands/connection/configFile.ts";
import { ADAPTER_NAMES, type AdapterName } from "../../../../../adapters/adapters.ts";
import type { ConfigInputs } from "../../../../../daemon/ops/daemonConfig.ts";
import { SettingReader } from "../../../../../daemon/ops/settings.ts";
import { AppError } from "../../../../../protocol/errors.ts";

interface Given {
  readonly env?: ConfigInputs["env"];
  readonly options?: ConfigInputs["options"];
  readonly file?: unknown;
  readonly defaults?: ConfigInputs["defaults"];
  readonly platform?: NodeJS.Platform;
}

function load({ env = {}, options = {}, file, defaults = "service", platform = "linux" }: Given = {}): Config {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  return loadConfig({
    env,
    options,
    file: file === undefined ? undefined : { path: "/home/u/config.json", text },
    cwd: "/work",
    homeDir: "/home/u",
    tmpDir: "/tmp",
    platform,
    defaults,
  });
}

function problemOf(given: Given): string {
  try {
    for (const problem of load(given).problems.values()) throw problem;
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: "CONFIGURATION_INVALID" });
    return (error as AppError).message;
  }
  return "no problem";
}

const sourceOf = (config: Config, key: string): object | undefined =>
  config.settings.find((setting) => setting.key === key);

describe("defaults", () => {
  test("a flag's help names the variable that stands in for it", () => {
    const settings: Parameters<SettingReader["read"]>[0][] = [];
    const read = Reflect.get(SettingReader.prototype, "read");
    vi.spyOn(SettingReader.prototype, "read").mockImplementation(function (this: SettingReader, setting) {
      settings.push(setting);
      return read.call(this, setting);
    });
    load();
    const flags = settings.flatMap(({ flags: all = [], variable }) =>
      variable === undefined ? [] : all.filter(({ type }) => type !== "flag").map((flag) => ({ flag, variable })),
    );
    expect(flags.length).toBeGreaterThan(15);
    const silent = flags.filter(({ flag, variable }) => flag.default?.includes(variable) !== true);
    expect(silent.map(({ flag, variable }) => `--${flag.name}: ${variable}`)).toEqual([]);
  });

  test("of the installed commands: tmux over https on localhost", () => {
    expect(load().addin).toEqual({
      isWanted: false,
      certificates: load().addin.certificates,
      host: "localhost",
      port: 3341,
      https: true,
      mode: "tmux",
      token: undefined,
      socketPath: "/tmp/pi-for-excel-tmux-bridge/tmux.sock",
      commandTimeoutMs: 10_000,
      allowedOrigins: ["https://localhost:3141", "https://localhost:3000", "https://pi-for-excel.vercel.app"],
      allowNoOrigin: false,
    });
  });
  test("of the bare adapter: stub over http on 127.0.0.1", () => {
    expect(load({ defaults: "raw" }).addin).toMatchObject({ host: "127.0.0.1", https: false, mode: "stub" });
  });
  test("of certificates, per platform", () => {
    expect(load().addin.certificates).toEqual({
      configured: undefined,
      bridgeDir: "/home/u/.pi-for-excel/certs",
      mkcertRoot: "/home/u/.local/share/mkcert",
      stateDir: "/home/u/.local/state/tmuxwire/certs",
    });
    expect(load({ platform: "darwin" }).addin.certificates.mkcertRoot).toBe(
      "/home/u/Library/Application Support/mkcert",
    );
  });
});

describe("precedence", () => {
  const file = { addin: { port: 3 } };
  test("flag, environment, file, default: each is used and reported", () => {
    const port = (config: Config): object => ({ value: config.addin.port, ...sourceOf(config, "addin.port") });
    const everything = { options: { "addin-port": "1" }, env: { PORT: "2" }, file };
    expect(port(load(everything))).toMatchObject({ value: 1, source: "flag", from: "--addin-port" });
    expect(port(load({ env: { PORT: "2" }, file }))).toMatchObject({ value: 2, source: "environment", from: "PORT" });
    expect(port(load({ file }))).toMatchObject({
      value: 3,
      source: "file",
      from: '"addin.port" in /home/u/config.json',
    });
    expect(port(load())).toMatchObject({ value: 3341, source: "default", from: undefined });
  });
  test("an empty variable counts as absent", () => {
    expect(load({ env: { PORT: "", TMUX_BRIDGE_MODE: " ", TMUX_BRIDGE_TOKEN: "  " } }).addin).toMatchObject({
      port: 3341,
      mode: "tmux",
      token: undefined,
    });
  });
  test("a default that follows from another setting follows it", () => {
    expect(load({ options: { http: true } }).addin).toMatchObject({ https: false, host: "127.0.0.1" });
    expect(load({ options: { https: true }, defaults: "raw" }).addin).toMatchObject({ https: true, host: "localhost" });
    expect(load({ env: { TMUX_BRIDGE_SOCKET_DIR: "run" } }).addin.socketPath).toBe("/work/run/tmux.sock");
    const both = { TMUX_BRIDGE_SOCKET_DIR: "/run/a", TMUX_BRIDGE_SOCKET_PATH: "/run/b/t.sock" };
    expect(load({ env: both }).addin.socketPath).toBe("/run/b/t.sock");
  });
});

describe("values", () => {
  test.each([
    ["1", true],
    ["true", true],
    ["TRUE", true],
    ["0", false],
    ["false", false],
  ])("HTTPS=%s", (HTTPS, https) => {
    expect(load({ env: { HTTPS } }).addin.https).toBe(https);
  });
  test.each([
    ["499", 10_000],
    ["500", 500],
    ["2500", 2_500],
    ["999999", 120_000],
    ["soon", 10_000],
  ])("TMUX_BRIDGE_COMMAND_TIMEOUT_MS=%s", (text, commandTimeoutMs) => {
    expect(load({ env: { TMUX_BRIDGE_COMMAND_TIMEOUT_MS: text } }).addin.commandTimeoutMs).toBe(commandTimeoutMs);
  });
  test("the mode's case and blanks do not matter, nor the token's blanks", () => {
    const env = { TMUX_BRIDGE_MODE: " Stub ", TMUX_BRIDGE_TOKEN: " s3cret " };
    expect(load({ env }).addin).toMatchObject({ mode: "stub", token: "s3cret" });
  });
  test("ALLOWED_ORIGINS replaces the defaults; nothing but commas is nothing", () => {
    const origins = (ALLOWED_ORIGINS: string): readonly string[] =>
      load({ env: { ALLOWED_ORIGINS } }).addin.allowedOrigins;
    expect(origins("https://a.test , http://localhost:8080,")).toEqual(["https://a.test", "http://localhost:8080"]);
    expect(origins(" , ")).toEqual([
      "https://localhost:3141",
      "https://localhost:3000",
      "https://pi-for-excel.vercel.app",
    ]);
  });
  test("certificates: a directory, or the two files, which win over it", () => {
    const PI_FOR_EXCEL_CERT_DIR = "certs";
    expect(load({ env: { PI_FOR_EXCEL_CERT_DIR } }).addin.certificates.configured).toEqual({
      keyPath: "/work/certs/key.pem",
      certPath: "/work/certs/cert.pem",
    });
    expect(load({ env: { PI_FOR_EXCEL_CERT_DIR, PI_FOR_EXCEL_KEY_PATH: "/k" } }).addin.certificates.configured).toEqual(
      {
        keyPath: "/k",
        certPath: "/work/certs/cert.pem",
      },
    );
  });
  test("paths in the file may begin with ~/", () => {
    expect(load({ file: { addin: { socketPath: "~/t.sock" } } }).addin.socketPath).toBe("/home/u/t.sock");
  });
  test("base directories are honoured when absolute", () => {
    const env = { XDG_STATE_HOME: "/state", XDG_DATA_HOME: "relative" };
    expect(load({ env }).addin.certificates).toMatchObject({
      stateDir: "/state/tmuxwire/certs",
      mkcertRoot: "/home/u/.local/share/mkcert",
    });
    expect(configFilePath({ XDG_CONFIG_HOME: "/cfg" }, "/home/u")).toBe("/cfg/tmuxwire/config.json");
    expect(configFilePath({}, "/home/u")).toBe("/home/u/.config/tmuxwire/config.json");
  });
});

describe("what cannot be used is one line that names it", () => {
  const origins = "comma-separated origins as browsers send them: scheme://host[:port] in lower case, without a path";
  const cases: [Given, string][] = [
    [{ env: { PORT: "abc" } }, 'PORT must be an integer from 0 to 65535 (it is "abc")'],
    [{ env: { PORT: "65536" } }, 'PORT must be an integer from 0 to 65535 (it is "65536")'],
    [
      { file: { addin: { port: 1.5 } } },
      '"addin.port" in /home/u/config.json must be an integer from 0 to 65535 (it is 1.5)',
    ],
    [{ env: { TMUX_BRIDGE_MODE: "real" } }, 'TMUX_BRIDGE_MODE must be "tmux" or "stub" (it is "real")'],
    [{ env: { HTTPS: "yes" } }, 'HTTPS must be 1, true, 0 or false (it is "yes")'],
    [
      { env: { HOST: "http://x" } },
      'HOST must be a host name or address without scheme, port or brackets (it is "http://x")',
    ],
    [{ env: { ALLOWED_ORIGINS: "https://a.test/" } }, `ALLOWED_ORIGINS must be ${origins} (it is "https://a.test/")`],
    [{ env: { ALLOWED_ORIGINS: "*" } }, `ALLOWED_ORIGINS must be ${origins} (it is "*")`],
    [{ env: { ALLOWED_ORIGINS: "null" } }, `ALLOWED_ORIGINS must be ${origins} (it is "null")`],
    [{ options: { http: true, https: true } }, "give --https or --http, not both"],
    [{ options: { "log-level": "loud" } }, '--log-level must be one of trace, debug, info, warn, error (it is "loud")'],
    [
      { env: { PI_FOR_EXCEL_KEY_PATH: "/k" } },
      "PI_FOR_EXCEL_KEY_PATH is set without PI_FOR_EXCEL_CERT_PATH: set both, or PI_FOR_EXCEL_CERT_DIR",
    ],
    [
      { env: { PI_FOR_EXCEL_CERT_PATH: "/c" } },
      "PI_FOR_EXCEL_CERT_PATH is set without PI_FOR_EXCEL_KEY_PATH: set both, or PI_FOR_EXCEL_CERT_DIR",
    ],
    [
      { file: { addin: { prot: 1 } } },
      '/home/u/config.json: unknown setting "addin.prot"; remove it or correct its name',
    ],
    [{ file: [] }, "/home/u/config.json must contain one JSON object"],
  ];
  test.each(cases)("%j", (given, problem) => {
    expect(problemOf(given)).toBe(problem);
  });
  test("a file that is not JSON", () => {
    expect(problemOf({ file: "{" })).toMatch(/^\/home\/u\/config\.json is not valid JSON: [^\n]+$/);
  });
});

test("the token's value is neither shown nor quoted in an error", () => {
  const config = load({ env: { TMUX_BRIDGE_TOKEN: "s3cret" } });
  expect(sourceOf(config, "addin.token")).toMatchObject({ value: "(set)", source: "environment" });
  expect(JSON.stringify(config.settings)).not.toContain("s3cret");
  expect(problemOf({ file: { addin: { token: ["s3cret"] } } })).not.toContain("s3cret");
});

test("a password in NATS's URL that is not encoded is refused, and not quoted", () => {
  const access = load({ env: { TMUXWIRE_NATS: "nats://me:50%25off@box" } }).nats.access;
  expect(access).toMatchObject({ servers: ["nats://box"], user: "me", password: "50%off" });
  const problem = problemOf({ env: { TMUXWIRE_NATS: "nats://me:50%off@box" } });
  expect(problem).toMatch(/^TMUXWIRE_NATS must be .*%25/);
  expect(problem).not.toContain("off");
});

test.each(CONFIG_OPTIONS.map((option) => [option.name, option] as const))("--%s gives a setting", (name, option) => {
  const likely: Readonly<Record<string, unknown>> = {
    server: ["mine=/s"],
    with: ["addin,team"],
    "ring-bytes": "1000000",
    nats: "nats://127.0.0.1:4222",
  };
  const [word] = Array.isArray(option.complete) ? (option.complete as string[]) : ["1"];
  const value = likely[name] ?? (option.type === "flag" ? true : word);
  const given = load({ options: { [name]: value } }).settings.filter(({ source }) => source === "flag");
  expect(given).toMatchObject([{ from: `--${name}` }]);
});

test("whether the shells of our own servers mark their commands", () => {
  expect(load().daemon.shellMarks).toBe(true);
  expect(load({ options: { "no-shell-marks": true } }).daemon.shellMarks).toBe(false);
  expect(load({ env: { TMUXWIRE_SHELL_MARKS: "0" } }).daemon.shellMarks).toBe(false);
  expect(load({ file: { shell: { marks: false } } }).daemon.shellMarks).toBe(false);
});

test("how much output is kept", () => {
  expect(load().daemon.ringBytes).toBe(524_288);
  expect(load({ file: { output: { ringBytes: 100_000 } } }).daemon.ringBytes).toBe(100_000);
  expect(problemOf({ env: { TMUXWIRE_RING_BYTES: "10" } })).toBe(
    'TMUXWIRE_RING_BYTES must be bytes from 65536 to 67108864 (it is "10")',
  );
});

describe("what one part cannot use", () => {
  const bad: Readonly<Record<AdapterName, NonNullable<Given["env"]>>> = {
    addin: { HTTPS: "perhaps", PI_FOR_EXCEL_KEY_PATH: "/k", PORT: "x" },
    native: { TMUXWIRE_ALLOWED_HOSTS: "http://a" },
    team: { PI_TEAM_WORKER_ARGV: "pi" },
    dashboard: { TMUXWIRE_DASHBOARD_TOKEN: "pässword" },
    freshell: { AUTH_TOKEN: "short", MAX_CONNECTIONS: "0", FRESHELL_HOST: "0.0.0.0" },
    nats: { TMUXWIRE_NATS: "http://a" },
  };

  test.each(ADAPTER_NAMES)("of %s is nothing to the others, and its own settings cannot be read", (name) => {
    const config = load({
      env: bad[name],
      options: { only: ADAPTER_NAMES.filter((other) => other !== name).join(",") },
    });
    for (const other of ADAPTER_NAMES) {
      if (other === name) expect(() => config[other]).toThrow(AppError);
      else expect(config[other]).toEqual(load({ options: { only: other } })[other]);
    }
    expect([...config.problems.keys()]).toEqual([name]);
    // Each row says what is wrong, and the file's other settings are still known.
    const wrong = config.settings.filter(({ problem }) => problem !== undefined);
    expect(wrong.map(({ from }) => from)).toEqual(
      expect.arrayContaining(wrong.map(({ problem }) => problem?.split(" ", 1)[0])),
    );
    expect(wrong).not.toEqual([]);
    expect(problemOf({ env: bad[name], file: { freshell: { maxTerminals: 3 }, addin: { prot: 1 } } })).toMatch(
      /"addin.prot"/,
    );
  });

  test("a flag is meant, whatever is served", () => {
    expect(problemOf({ options: { only: "native", "dashboard-port": "x" } })).toMatch(/^--dashboard-port must be/);
  });

  test("a part that is off for want of a token stays off, with what it wants", () => {
    expect(load({ env: { AUTH_TOKEN: "short" } }).offBecause("freshell")).toMatch(/^set AUTH_TOKEN to a secret/);
  });
});
