import { describe, expect, test } from "vitest";
import type { ServiceInputs } from "../../../../../adapters/commands/service/serviceUnits.ts";
import { servicePlan, UNIT_MARK } from "../../../../../adapters/commands/service/serviceUnits.ts";

const inputs: ServiceInputs = {
  platform: "linux",
  homeDir: "/home/me",
  env: { PATH: "/usr/bin:/bin", TMUX_BRIDGE_TOKEN: "hush", API_KEY: "hush", XDG_STATE_HOME: "/state" },
  execPath: "/usr/bin/node",
  scriptPath: "/opt/tmuxwire/tmuxwire.js",
  socketPath: "/run/user/1000/tmuxwire/tmuxwire.sock",
  host: "127.0.0.1",
  port: 7_420,
};
const texts = (more: Partial<ServiceInputs> = {}): string[] =>
  servicePlan({ ...inputs, ...more })?.files.map(({ text }) => text) ?? [];

describe("systemd", () => {
  test("a service and the socket that starts it, in the user's directory", () => {
    const plan = servicePlan(inputs);
    expect(plan?.files.map(({ path }) => path)).toEqual([
      "/home/me/.config/systemd/user/tmuxwire.service",
      "/home/me/.config/systemd/user/tmuxwire.socket",
    ]);
    expect(servicePlan({ ...inputs, env: { XDG_CONFIG_HOME: "/c" } })?.files[0]?.path).toBe(
      "/c/systemd/user/tmuxwire.service",
    );
    expect(plan?.start.every((line) => /^(systemctl --user|loginctl) /.test(line))).toBe(true);
  });

  test("the service leaves tmux alone when it stops", () => {
    const [service = ""] = texts();
    expect(service).toContain(
      "\nExecStart=/usr/bin/node --max-semi-space-size=2 --enable-source-maps /opt/tmuxwire/tmuxwire.js serve\n",
    );
    expect(service).toMatch(/^KillMode=process$/m);
    expect(service).toMatch(/^Requires=tmuxwire\.socket$/m);
  });

  test("the sockets are for the owner alone", () => {
    const [, socket = ""] = texts();
    expect(socket).toMatch(/^ListenStream=\/run\/user\/1000\/tmuxwire\/tmuxwire\.sock$/m);
    expect(socket).toMatch(/^ListenStream=127\.0\.0\.1:7420$/m);
    expect(socket).toMatch(/^SocketMode=0600$/m);
    expect(socket).toMatch(/^DirectoryMode=0700$/m);
  });

  test.each([
    [{ host: "localhost" }, "127.0.0.1:7420"],
    [{ host: "::1" }, "[::1]:7420"],
    [{ port: 0 }, undefined],
  ])("%j listens on %s", (more, address) => {
    const [, socket = ""] = texts(more);
    expect([...socket.matchAll(/^ListenStream=([^/].*)$/gm)].map((match) => match[1])[0]).toBe(address);
  });

  test("no path can end a line or begin a specifier, a variable or an option", () => {
    const [service = "", socket = ""] = texts({
      scriptPath: '/opt/my "tools"/50%/$HOME/t.js',
      socketPath: "/run/50%/t.sock",
      env: { PATH: "/a b:/50%:/$x" },
    });
    expect(service).toMatch(/^ExecStart=.* "\/opt\/my \\"tools\\"\/50%%\/\$\$HOME\/t\.js" serve$/m);
    expect(service).toMatch(/^Environment="PATH=\/a b:\/50%%:\/\$x"$/m);
    expect(socket).toMatch(/^ListenStream=\/run\/50%%\/t\.sock$/m);
  });
});

describe("launchd", () => {
  const [plist = ""] = texts({ platform: "darwin", scriptPath: "/opt/<a>&b/t.js" });

  test("an agent of the user's that leaves tmux alone", () => {
    expect(servicePlan({ ...inputs, platform: "darwin" })?.files[0]?.path).toBe(
      "/home/me/Library/LaunchAgents/tmuxwire.daemon.plist",
    );
    expect(plist).toContain("<string>/opt/&lt;a&gt;&amp;b/t.js</string>");
    expect(plist).toMatch(/<key>AbandonProcessGroup<\/key><true\/>/);
    expect(plist.match(/<(dict|array)>/g)?.length).toBe(plist.match(/<\/(dict|array)>/g)?.length);
  });
});

test("no file holds a secret, and each says who wrote it", () => {
  for (const platform of ["linux", "darwin"] as const) {
    for (const text of texts({ platform })) {
      expect(text).not.toContain("hush");
      expect(text).toContain(UNIT_MARK);
    }
  }
});

test("other systems have no service of ours", () => {
  expect(servicePlan({ ...inputs, platform: "win32" })).toBeUndefined();
});
