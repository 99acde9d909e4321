/**
 * Whoever follows a document: a home of their own, `npx tmuxwire` is what was built, and the document's ports are those of a
 * daemon that is theirs.
 */
import { spawn } from "node:child_process";
import { builtCli, builtFreshell } from "./cliBuild.ts";
import { behind, type CliSandbox, type Running } from "./cliSandbox.ts";

const AUTH_TOKEN = "a-token-of-the-tests-0123456789";

interface User {
  readonly sandbox: CliSandbox;
  /** A command line in bash; ports of the document become those of the daemon. */
  readonly start: (command: string) => Running;
}

/**
 * `tmuxwire` and `npx tmuxwire` are the executable that was built; state is where it is for someone who has set nothing.
 * @param more the daemon's arguments @param scripts other programs on the user's PATH
 */
export async function user(
  sandbox: CliSandbox,
  more: readonly string[] = [],
  scripts: Readonly<Record<string, string>> = {},
): Promise<User> {
  const program = (path: string): string => `'${process.execPath}' '${path}'`;
  const npx = `#!/bin/sh\nname=$1; shift\ncase $name in\nfreshell) exec ${program(builtFreshell())} "$@";;\nesac\nexec ${program(builtCli())} "$@"\n`;
  const tmuxwire = `#!/bin/sh\nexec ${program(builtCli())} "$@"\n`;
  const bin = sandbox.binaries("bin", { npx, tmuxwire, ...scripts });
  const { XDG_STATE_HOME: _state, ...rest } = sandbox.env;
  const anyPorts = ["--port", "0", "--addin-port", "0", "--dashboard-port", "0", "--freshell-port", "0"];
  // Not the server of whoever runs the tests.
  const watched = ["--dashboard-tmux-socket", sandbox.path("tmux-user.sock")];
  const daemon = sandbox.start(["serve", "--with", "addin,team", ...anyPorts, ...watched, ...more], {
    env: { XDG_STATE_HOME: undefined, AUTH_TOKEN, PATH: behind(bin) },
  });
  const [, addin = ""] = await daemon.line(/bridge listening on https:\/\/localhost:(\d+)/);
  const [, native = ""] = await daemon.line(/native API listening on http:\/\/127\.0\.0\.1:(\d+)/);
  const [, dashboard = ""] = await daemon.line(/dashboard listening on http:\/\/127\.0\.0\.1:(\d+)/);
  const [, freshell = ""] = await daemon.line(/Freshell listening on http:\/\/127\.0\.0\.1:(\d+)/);
  const env = {
    ...rest,
    PATH: behind(bin),
    AUTH_TOKEN,
    FRESHELL_URL: `http://127.0.0.1:${freshell}`,
    TMUXWIRE_DASHBOARD_PORT: dashboard,
  };
  const ports: Readonly<Record<string, string>> = { 7420: native, 3341: addin, 5055: dashboard, 3001: freshell };
  // In one pass: a port that the system has given may contain one of these numbers.
  const here = (text: string): string => text.replaceAll(/7420|3341|5055|3001/g, (port) => ports[port]!);
  return {
    sandbox,
    start: (command) => {
      const child = spawn("bash", ["-c", here(command)], { env, cwd: sandbox.path("home"), detached: true });
      return sandbox.adopt(child);
    },
  };
}
