import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../../adapters/commands/connection/configuration.ts";
import { loadNativeConfig } from "../../../../adapters/native/nativeConfig.ts";
import type { ConfigInputs } from "../../../../daemon/ops/daemonConfig.ts";
import { defaultTmuxSocket, runtimePaths } from "../../../../daemon/ops/runtimePaths.ts";

const inputs: ConfigInputs = {
  options: {},
  env: {},
  file: undefined,
  cwd: "/here",
  homeDir: "/home/me",
  tmpDir: "/tmp",
  platform: "linux",
  uid: 1_000,
  defaults: "service",
};
const native = (more: Partial<ConfigInputs>) => loadConfig({ ...inputs, ...more }).native;
const guests = (more: Partial<ConfigInputs>) => loadConfig({ ...inputs, ...more }).daemon.guests;

describe("paths", () => {
  test("sockets are in the runtime directory, the token among the state", () => {
    const env = { XDG_RUNTIME_DIR: "/run/user/1000", XDG_STATE_HOME: "/state" };
    expect(runtimePaths(env, "/home/me")).toEqual({
      agentsPath: "/state/tmuxwire/agents.db",
      runtimeDir: "/run/user/1000/tmuxwire",
      stateDir: "/state/tmuxwire",
      socketPath: "/run/user/1000/tmuxwire/tmuxwire.sock",
      tmuxSocketPath: "/run/user/1000/tmuxwire/tmux.sock",
      tokenPath: "/state/tmuxwire/token",
      deliveriesPath: "/state/tmuxwire/deliveries.db",
      hostsPath: "/state/tmuxwire/hosts.json",
      notificationsPath: "/state/tmuxwire/notifications.json",
      pushKeysPath: "/state/tmuxwire/pushKeys.json",
      recordingsPath: "/state/tmuxwire/recordings",
      profilesPath: "/home/me/.config/tmuxwire/profiles",
    });
  });

  test("without one, everything is below the home directory; relative ones count as none", () => {
    const paths = runtimePaths({}, "/home/me");
    expect(paths.socketPath).toBe("/home/me/.local/state/tmuxwire/tmuxwire.sock");
    expect(paths.tokenPath).toBe("/home/me/.local/state/tmuxwire/token");
    expect(runtimePaths({ XDG_RUNTIME_DIR: "run", XDG_STATE_HOME: "" }, "/home/me")).toEqual(paths);
  });

  test("tmux's own socket", () => {
    expect(defaultTmuxSocket({}, 7)).toBe("/tmp/tmux-7/default");
    expect(defaultTmuxSocket({ TMUX_TMPDIR: "/var/tmp" }, 7)).toBe("/var/tmp/tmux-7/default");
  });
});

describe("settings of the native API", () => {
  test("the defaults", () => {
    expect(native({})).toEqual({
      host: "127.0.0.1",
      port: 7_420,
      socketPath: "/home/me/.local/state/tmuxwire/tmuxwire.sock",
      tokenPath: "/home/me/.local/state/tmuxwire/token",
      tmuxSocketPath: "/home/me/.local/state/tmuxwire/tmux.sock",
      offersDefault: true,
      allowedOrigins: [],
      allowedHosts: [],
    });
  });

  test("flags win over the environment, that over the file", () => {
    const file = { path: "/f", text: JSON.stringify({ native: { port: 1, host: "localhost", socketPath: "~/s" } }) };
    const env = { TMUXWIRE_PORT: "2", TMUXWIRE_HOST: "::1" };
    expect(native({ file })).toMatchObject({ port: 1, host: "localhost", socketPath: "/home/me/s" });
    expect(native({ file, env })).toMatchObject({ port: 2, host: "::1" });
    expect(native({ file, env, options: { port: "3", socket: "s" } })).toMatchObject({
      port: 3,
      host: "::1",
      socketPath: "/here/s",
    });
  });

  test("they do not disturb the add-in's variables, which have common names", () => {
    const config = loadConfig({ ...inputs, env: { HOST: "localhost", PORT: "9" } });
    expect(config.native).toMatchObject({ host: "127.0.0.1", port: 7_420 });
    expect(config.addin.port).toBe(9);
  });

  test("servers of the user's own: flag, variable and file; a name for tmux's own", () => {
    const expected = [
      { name: "mine", socketPath: "/tmp/tmux-1000/default" },
      { name: "work_2", socketPath: "/here/w,x.sock" },
      { name: "home", socketPath: "/home/me/t.sock" },
    ];
    const list = ["mine=default", "work_2=w,x.sock", "home=~/t.sock"];
    expect(guests({ options: { server: list } })).toEqual(expected);
    const file = { path: "/f", text: JSON.stringify({ native: { servers: list } }) };
    expect(guests({ file })).toEqual(expected);
    const env = { TMUXWIRE_SERVERS: "mine=default, home=~/t.sock" };
    expect(guests({ env })).toEqual([expected[0], expected[2]]);
  });

  test.each([["x"], ["=/s"], ["x="], ["main=/s"], ["A=/s"], ["a b=/s"], ["a=/s,a=/t"], [`${"a".repeat(33)}=/s`]])(
    "the server %j is refused",
    (text) => {
      expect(() => native({ env: { TMUXWIRE_SERVERS: text } })).toThrow(/TMUXWIRE_SERVERS must be NAME=SOCKET_PATH/);
    },
  );

  test("default means nothing where there are no users", () => {
    const { uid: _uid, ...rest } = inputs;
    expect(() => loadConfig({ ...rest, options: { server: ["x=default"] } })).toThrow(/--server must be/);
  });

  test.each([
    ["TMUXWIRE_PORT", "65536"],
    ["TMUXWIRE_PORT", "x"],
    ["TMUXWIRE_HOST", "http://localhost"],
    ["TMUXWIRE_ALLOWED_ORIGINS", "https://a.example/path"],
    ["TMUXWIRE_ALLOWED_HOSTS", "http://a.example"],
  ])("%s=%s is refused with the setting's name", (name, value) => {
    expect(() => native({ env: { [name]: value } })).toThrow(new RegExp(`^${name} must be`));
  });

  test("a client needs none of the other parts to be right", () => {
    const env = { PORT: "nonsense", TMUX_BRIDGE_MODE: "nonsense" };
    expect(() => loadConfig({ ...inputs, env }).addin).toThrow(/PORT/);
    expect(loadConfig({ ...inputs, env }).native.port).toBe(7_420);
    expect(loadNativeConfig({ ...inputs, env }).port).toBe(7_420);
  });
});
