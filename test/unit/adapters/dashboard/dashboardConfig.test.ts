import { describe, expect, test } from "vitest";
import { type Config, loadConfig } from "../../../../adapters/commands/connection/configuration.ts";
import type { ConfigInputs } from "../../../../daemon/ops/daemonConfig.ts";

interface Given {
  readonly env?: ConfigInputs["env"];
  readonly options?: ConfigInputs["options"];
  readonly file?: unknown;
}

const load = ({ env = {}, options = {}, file }: Given = {}): Config =>
  loadConfig({
    env,
    options,
    file: file === undefined ? undefined : { path: "/home/u/config.json", text: JSON.stringify(file) },
    cwd: "/work",
    homeDir: "/home/u",
    tmpDir: "/tmp",
    platform: "linux",
    uid: 1000,
    defaults: "service",
  });

test("defaults: this machine only, tmux's own server, a database among the state", () => {
  expect(load().dashboard).toEqual({
    host: "127.0.0.1",
    port: 5055,
    token: undefined,
    allowedOrigins: [],
    tmuxSocketPath: "/tmp/tmux-1000/default",
    databasePath: "/home/u/.local/state/tmuxwire/dashboard.db",
    hooksEnabled: true,
    registersProjects: true,
    availability: "process_tree",
    agentPrograms: undefined,
    clearFirst: false,
    gapMs: undefined,
  });
});

describe("HOST and PORT, which are the add-in's", () => {
  const env = { HOST: "localhost", PORT: "8080" };

  test("are the dashboard's when it is served alone", () => {
    expect(load({ env, options: { only: "dashboard" } }).dashboard).toMatchObject({ host: "localhost", port: 8080 });
    for (const only of [undefined, "addin", "addin,dashboard"]) {
      const { dashboard, addin } = load({ env, options: { only } });
      expect([dashboard.host, dashboard.port, addin.port]).toEqual(["127.0.0.1", 5055, 8080]);
    }
  });

  test("give way to its own names and flags", () => {
    const own = { ...env, TMUXWIRE_DASHBOARD_PORT: "8081" };
    expect(load({ env: own, options: { only: "dashboard" } }).dashboard).toMatchObject({
      host: "localhost",
      port: 8081,
    });
    const options = { only: "dashboard", "dashboard-port": "8082" };
    expect(load({ env: own, options }).dashboard.port).toBe(8082);
  });
});

test.each<[string, Given, string]>([
  ["the only guest", { options: { server: "mine=/run/m.sock" } }, "/run/m.sock"],
  ["the one called user", { options: { server: "a=/a.sock,user=/u.sock" } }, "/u.sock"],
  ["tmux's own, when none is called so", { options: { server: "a=/a.sock,b=/b.sock" } }, "/tmp/tmux-1000/default"],
  ["the one it runs in", { env: { TMUX: "/run/inside,5,0" } }, "/run/inside"],
  ["its flag", { options: { server: "user=/u.sock", "dashboard-tmux-socket": "x/y.sock" } }, "/work/x/y.sock"],
  [
    "its flag's `default`",
    { options: { server: "user=/u.sock", "dashboard-tmux-socket": "default" } },
    "/tmp/tmux-1000/default",
  ],
])("the server it looks at: %s", (_name, given, path) => {
  expect(load(given).dashboard.tmuxSocketPath).toBe(path);
});

test.each<[Given, RegExp]>([
  [{ options: { "dashboard-port": "70000" } }, /--dashboard-port must be an integer/],
  [{ env: { TMUXWIRE_DASHBOARD_AVAILABILITY: "maybe" } }, /must be exists, command or process_tree/],
  [{ env: { TMUXWIRE_DASHBOARD_GAP_MS: "9999" } }, /milliseconds from 0 to 5000/],
  [{ env: { TMUXWIRE_DASHBOARD_ORIGINS: "https://x.example/" } }, /origins as browsers send them/],
  [{ file: { dashboard: { agentPrograms: [] } } }, /names of programs/],
  [{ file: { dashboard: { prot: 1 } } }, /unknown setting "dashboard\.prot"/],
])("%j is refused", (given, message) => {
  expect(() => load(given).dashboard).toThrow(message);
});

test("the token is shown as set, never as it is", () => {
  const { settings, dashboard } = load({ env: { TMUXWIRE_DASHBOARD_TOKEN: "s3cret" } });
  expect(dashboard.token).toBe("s3cret");
  expect(JSON.stringify(settings)).not.toContain("s3cret");
});

test.each(["pässword", "two\nlines"])("a token that no header can carry is refused, and not shown: %j", (token) => {
  const given = { env: { TMUXWIRE_DASHBOARD_TOKEN: token } };
  expect(() => load(given).dashboard).toThrow(/TMUXWIRE_DASHBOARD_TOKEN.*plain ASCII/);
  expect(() => load(given).dashboard).not.toThrow(token);
  expect(JSON.stringify(load(given).settings)).not.toContain(token);
});
