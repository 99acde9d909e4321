/**
 * The files that let the system start the daemon: systemd user units with socket activation, or a launchd agent. They hold
 * paths and no secrets: the token stays in its file, and variables that may hold one are left out. Stopping the service must
 * leave tmux and its programs running, so only the daemon's own process is signalled.
 */
import { dirname, join } from "node:path";
import { baseDir } from "../../../daemon/ops/runtimePaths.ts";
import { shellWord } from "../../../protocol/text/shellWord.ts";
import { urlHost } from "../../kit/peers/addresses.ts";
import { DAEMON_NODE_FLAGS } from "../../serving/autostart.ts";

/** The first line of every file that we write; a file without it is not ours. */
export const UNIT_MARK = "Written by `tmuxwire service install`";

export interface ServiceInputs {
  readonly platform: NodeJS.Platform;
  readonly homeDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** This Node binary and this script: what the service starts. */
  readonly execPath: string;
  readonly scriptPath: string;
  /** The native API's listeners. */
  readonly socketPath: string;
  readonly host: string;
  readonly port: number;
}

export interface ServiceFile {
  readonly path: string;
  readonly text: string;
}

export interface ServicePlan {
  readonly files: readonly ServiceFile[];
  /** Commands for the user to run, in this order. */
  readonly start: readonly string[];
  readonly stop: readonly string[];
  /** Links that `systemctl enable` makes: removed with their targets. */
  readonly links: readonly string[];
}

/** Undefined where there is neither systemd nor launchd. */
export function servicePlan(inputs: ServiceInputs): ServicePlan | undefined {
  if (inputs.platform === "linux") return systemdPlan(inputs);
  if (inputs.platform === "darwin") return launchdPlan(inputs);
  return undefined;
}

/** Variables that hold paths and no secrets. */
const PLACES = ["PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

function places(env: ServiceInputs["env"]): [string, string][] {
  return PLACES.flatMap((name): [string, string][] => {
    const value = env[name];
    return value === undefined || value === "" ? [] : [[name, value]];
  });
}

export const SYSTEMD_UNIT = "tmuxwire.service";

/** Where systemd looks for a user's units. */
const unitDirectory = ({ env, homeDir }: Pick<ServiceInputs, "env" | "homeDir">): string =>
  join(baseDir(env["XDG_CONFIG_HOME"], join(homeDir, ".config")), "systemd", "user");
const launchdLog = (homeDir: string): string => join(homeDir, "Library", "Logs", "tmuxwire.log");

/** Where a daemon logs, by how it was started: the journal of a unit, or the first of these files that exists. */
export function logPlaces(inputs: Pick<ServiceInputs, "env" | "homeDir" | "platform" | "socketPath">): {
  readonly unit: string | undefined;
  readonly files: readonly string[];
} {
  const { platform, homeDir, socketPath } = inputs;
  return {
    unit: platform === "linux" ? join(unitDirectory(inputs), SYSTEMD_UNIT) : undefined,
    files: [...(platform === "darwin" ? [launchdLog(homeDir)] : []), join(dirname(socketPath), "daemon.log")],
  };
}

const serveCommandOf = ({ execPath, scriptPath }: ServiceInputs): string[] => [
  execPath,
  ...DAEMON_NODE_FLAGS,
  "--enable-source-maps",
  scriptPath,
  "serve",
];

function systemdPlan(inputs: ServiceInputs): ServicePlan {
  const directory = unitDirectory(inputs);
  // `$` begins a variable in command lines, and nowhere else in a unit.
  const exec = serveCommandOf(inputs)
    .map((word) => systemdWord(word).replaceAll("$", "$$$$"))
    .join(" ");
  const service = `# ${UNIT_MARK}
[Unit]
Description=tmuxwire: a daemon that drives tmux
Documentation=man:tmux(1)
Requires=tmuxwire.socket
After=tmuxwire.socket

[Service]
Type=simple
ExecStart=${exec}
${places(inputs.env)
  .map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}`)
  .join("\n")}
# tmux and the programs in its panes outlive the daemon.
KillMode=process
TimeoutStopSec=5
Restart=on-failure
RestartSec=1

[Install]
WantedBy=default.target
`;
  const socket = `# ${UNIT_MARK}
[Unit]
Description=tmuxwire: listeners of the native API

[Socket]
${listenStreams(inputs)
  .map((address) => `ListenStream=${systemdValue(address)}`)
  .join("\n")}
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
`;
  return {
    files: [
      { path: join(directory, "tmuxwire.service"), text: service },
      { path: join(directory, "tmuxwire.socket"), text: socket },
    ],
    links: [
      join(directory, "sockets.target.wants", "tmuxwire.socket"),
      join(directory, "default.target.wants", "tmuxwire.service"),
    ],
    start: [
      "systemctl --user daemon-reload",
      "systemctl --user enable --now tmuxwire.socket",
      "systemctl --user enable --now tmuxwire.service   # also at login, for the add-in's listener",
      "loginctl enable-linger   # to keep it running while you are logged out",
    ],
    stop: ["systemctl --user stop tmuxwire.service tmuxwire.socket", "systemctl --user daemon-reload"],
  };
}

/** The unix socket, and the port unless it is 0. systemd takes addresses, not names. */
function listenStreams({ socketPath, host, port }: ServiceInputs): string[] {
  const address = host === "localhost" ? "127.0.0.1" : urlHost(host);
  return port === 0 ? [socketPath] : [socketPath, `${address}:${port}`];
}

/** `%` begins a specifier everywhere in a unit. */
const systemdValue = (text: string): string => text.replaceAll("%", "%%");

/** One word of a command line or an assignment (systemd.syntax(7), systemd.service(5) "COMMAND LINES"). */
function systemdWord(text: string): string {
  const escaped = systemdValue(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return /^[\w@%+=:,./$-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

function launchdPlan(inputs: ServiceInputs): ServicePlan {
  const label = "tmuxwire.daemon";
  const path = join(inputs.homeDir, "Library", "LaunchAgents", `${label}.plist`);
  const string = (text: string): string => `<string>${xml(text)}</string>`;
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${UNIT_MARK} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${string(label)}
  <key>ProgramArguments</key>
  <array>
    ${serveCommandOf(inputs).map(string).join("\n    ")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    ${places(inputs.env)
      .map(([name, value]) => `<key>${xml(name)}</key>${string(value)}`)
      .join("\n    ")}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key>
  <dict><key>SuccessfulExit</key><false/></dict>
  <!-- tmux and the programs in its panes outlive the daemon. -->
  <key>AbandonProcessGroup</key><true/>
  <key>ExitTimeOut</key><integer>5</integer>
  <key>StandardErrorPath</key>${string(launchdLog(inputs.homeDir))}
</dict>
</plist>
`;
  return {
    files: [{ path, text }],
    links: [],
    start: [`launchctl bootstrap gui/$(id -u) ${shellWord(path)}`],
    stop: [`launchctl bootout gui/$(id -u)/${label}`],
  };
}

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
