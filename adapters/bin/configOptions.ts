/** The flags that the configuration knows; what their values may be is said there, once. */
import { LOG_LEVELS } from "../../daemon/ops/log.ts";
import type { OptionSpec } from "./commandTypes.ts";

/** As messages name them. */
export const ADDIN_SOCKET_SETTING = "--addin-socket or TMUX_BRIDGE_SOCKET_PATH";
export const TMUX_SOCKET_SETTING = "--tmux-socket or TMUXWIRE_TMUX_SOCKET";

export const NATIVE_LISTEN_SETTINGS = {
  host: "--host or TMUXWIRE_HOST",
  port: "--port or TMUXWIRE_PORT",
  others: "--allow-hosts or TMUXWIRE_ALLOWED_HOSTS",
} as const;

const LOG_OPTIONS: readonly OptionSpec[] = [
  {
    name: "log-level",
    type: "text",
    value: "LEVEL",
    description: "least level logged: trace, debug, info, warn or error",
    default: "info",
    complete: LOG_LEVELS,
  },
];

/** For the add-in's bridge alone. */
export const ADDIN_OPTIONS: readonly OptionSpec[] = [
  { name: "https", type: "flag", description: "serve the add-in over https, which is the default" },
  { name: "http", type: "flag", description: "serve the add-in over plain http" },
  {
    name: "addin-host",
    type: "text",
    value: "HOST",
    description: "address of the add-in's listener",
    default: "HOST, else localhost, or 127.0.0.1 with --http",
  },
  {
    name: "addin-port",
    type: "text",
    value: "PORT",
    description: "port of the add-in's listener, 0 for any",
    default: "PORT, else 3341",
  },
  {
    name: "addin-mode",
    type: "text",
    value: "MODE",
    description: "tmux, or stub: in memory, nothing is ever run",
    default: "TMUX_BRIDGE_MODE, else tmux",
    complete: ["tmux", "stub"],
  },
  {
    name: "addin-socket",
    type: "text",
    value: "PATH",
    description: "socket of the add-in's tmux server",
    default: "$TMPDIR/pi-for-excel-tmux-bridge/tmux.sock",
    complete: "file",
  },
  {
    name: "allow-uids",
    type: "text",
    value: "UIDS",
    description: "users besides you and root whom listeners without a token obey, by number with commas, or `any`",
    default: "TMUXWIRE_ALLOW_UIDS, else none",
    complete: ["any"],
  },
  ...LOG_OPTIONS,
];

export const CONFIG_OPTIONS: readonly OptionSpec[] = [
  {
    name: "host",
    type: "text",
    value: "HOST",
    description: "address of the native API's listener",
    default: "TMUXWIRE_HOST, else 127.0.0.1",
  },
  {
    name: "allow-hosts",
    type: "text",
    value: "HOSTS",
    description: "names by which other machines may reach the native API, with its token; commas between",
    default: "TMUXWIRE_ALLOWED_HOSTS, else none: this machine alone",
  },
  {
    name: "port",
    type: "text",
    value: "PORT",
    description: "port of the native API's listener, 0 for any",
    default: "TMUXWIRE_PORT, else 7420",
  },
  {
    name: "socket",
    type: "text",
    value: "PATH",
    description: "unix socket of the native API",
    default: "$XDG_RUNTIME_DIR/tmuxwire/tmuxwire.sock",
    complete: "file",
  },
  {
    name: "token-file",
    type: "text",
    value: "PATH",
    description: "file with the native API's token, made on first start",
    default: "~/.local/state/tmuxwire/token",
    complete: "file",
  },
  {
    name: "tmux-socket",
    type: "text",
    value: "PATH",
    description: "socket of the native API's own tmux server",
    default: "$XDG_RUNTIME_DIR/tmuxwire/tmux.sock",
    complete: "file",
  },
  {
    name: "server",
    type: "list",
    value: "NAME=PATH",
    description: "a tmux server of yours to offer under this name, by its socket's path, or `default` for tmux's own",
  },
  {
    name: "dashboard-host",
    type: "text",
    value: "HOST",
    description: "address of the dashboard's listener",
    default: "TMUXWIRE_DASHBOARD_HOST, else 127.0.0.1",
  },
  {
    name: "dashboard-port",
    type: "text",
    value: "PORT",
    description: "port of the dashboard's listener, 0 for any",
    default: "TMUXWIRE_DASHBOARD_PORT, else 5055",
  },
  {
    name: "dashboard-tmux-socket",
    type: "text",
    value: "PATH",
    description: "socket of the tmux server whose agents the dashboard shows, or `default` for tmux's own",
    default: "the --server called user, or the only one, else tmux's own",
    complete: "file",
  },
  {
    name: "dashboard-database",
    type: "text",
    value: "PATH",
    description: "the dashboard's database",
    default: "~/.local/state/tmuxwire/dashboard.db",
    complete: "file",
  },
  ...ADDIN_OPTIONS,
];
