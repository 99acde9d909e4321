/** How help shows the commands, and what it says about more than one of them. */
import type { CommandGroup, HelpTopic } from "../cli/commandTypes.ts";
import { ERROR_SURFACES, type ErrorCode } from "../../protocol/errors.ts";

/** Every command that help lists is in one of them. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { title: "Start here", names: ["serve", "new", "attach", "ls", "run", "doctor"] },
  {
    title: "Panes",
    names: [
      "send",
      "wait",
      "capture",
      "follow",
      "show",
      "panes",
      "snapshot",
      "submit",
      "choose",
      "interrupt",
      "clear",
      "events",
    ],
  },
  {
    title: "Agents",
    names: [
      "agents",
      "start",
      "tell",
      "agent",
      "agent-wait",
      "answer",
      "agent-interrupt",
      "end",
      "resume",
      "rename-agent",
      "messages",
      "agent-messages",
      "cancel",
      "worktrees",
      "remove-worktree",
      "notify",
    ],
  },
  {
    title: "Sessions and layout",
    names: [
      "sessions",
      "kill",
      "rename-session",
      "windows",
      "new-window",
      "split-window",
      "select-window",
      "select-pane",
      "select-layout",
      "resize",
      "resize-pane",
      "resize-window",
      "move-pane",
      "join-pane",
      "break-pane",
      "swap-pane",
      "rename-window",
      "kill-window",
      "kill-pane",
      "respawn-pane",
      "clear-history",
      "set-window-option",
      "set-pane-option",
    ],
  },
  {
    title: "Recordings",
    names: ["rec", "play", "recordings", "start-recording", "stop-recording", "delete-recording"],
  },
  { title: "Servers and hosts", names: ["servers", "hosts", "config", "service", "logs"] },
  {
    title: "Integrate",
    names: ["mcp", "hooks", "profiles", "profile", "enable", "disable", "addin", "trust", "completions", "names"],
  },
  { title: "About", names: ["version"] },
];

const codesOf = (exitCode: number): string =>
  (Object.keys(ERROR_SURFACES) as ErrorCode[]).filter((code) => ERROR_SURFACES[code].exitCode === exitCode).join(", ");

export const HELP_TOPICS: readonly HelpTopic[] = [
  {
    name: "exit-codes",
    summary: "what exit codes mean",
    rows: [
      { head: "0", text: "it is done" },
      { head: "1", text: `it failed: ${codesOf(1)}` },
      { head: "2", text: `the command line is wrong, and nothing was done: ${codesOf(2)}` },
      { head: "3", text: `there is nothing of this name: ${codesOf(3)}` },
      { head: "4", text: `the name means more than one thing, or nothing of this kind: ${codesOf(4)}` },
      { head: "5", text: `a device is not there: ${codesOf(5)}` },
      { head: "6", text: `you may not: ${codesOf(6)}` },
      { head: "7", text: `it is there already, or has changed: ${codesOf(7)}` },
      { head: "8", text: `a limit, or something that is not supported: ${codesOf(8)}` },
      { head: "9", text: `the other side did not respond in time: ${codesOf(9)}` },
      { head: "10", text: "the program in the pane is in the wrong state: busy, asking, ended" },
      { head: "69", text: `the daemon or tmux cannot be reached: ${codesOf(69)}` },
      { head: "124", text: "time is up" },
      {
        head: "125, 255",
        text: "`run`: a failure of ours, or a connection that was lost; else the command's own status",
      },
      { head: "130, 143", text: "ended by Ctrl-C, or by SIGTERM" },
    ],
    more: ["With `--json` an error is one object on stdout, with its `code`; decide by that, not by the message."],
  },
  {
    name: "targets",
    summary: "how panes, sessions, agents and servers are named",
    rows: [
      { head: "%5, 5", text: "a pane, by its id" },
      { head: "work", text: "a session, exactly: no prefix, no pattern; where a pane is wanted, its active pane" },
      { head: "$3, @2", text: "a session and a window, by their ids" },
      { head: "api", text: "an agent, wherever a pane is wanted, on whatever server it runs" },
      { head: ".", text: "inside tmux: the pane that the command runs in" },
      { head: "--server main", text: "the daemon's own server (default)" },
      { head: "--server default", text: "your own tmux" },
      { head: "--server main@build", text: "a server of another machine, after `tmuxwire hosts add build DEST`" },
      { head: "--server work=/run/s", text: "for `serve`: another server of yours, by its socket" },
    ],
    more: ["`tmuxwire ls`, `agents`, `servers` and `hosts` list what there is; completions offer it."],
  },
  {
    name: "environment",
    summary: "the variables that commands read",
    rows: [
      { head: "TMUXWIRE_SOCKET", text: "the daemon's unix socket; else `$XDG_RUNTIME_DIR/tmuxwire/tmuxwire.sock`" },
      { head: "TMUXWIRE_URL", text: "a daemon's address, in place of the socket" },
      { head: "TMUXWIRE_TOKEN_FILE", text: "the file with the daemon's token" },
      { head: "TMUXWIRE_SERVER", text: "the server of commands that take `--server`" },
      {
        head: "TMUXWIRE_LOG_LEVEL",
        text: "error, warn, info, debug or trace; with debug a failure of ours has a stack",
      },
      { head: "NO_COLOR", text: "no colours" },
      { head: "TMUX, TMUX_PANE", text: "set by tmux: the pane that `.` means" },
    ],
    more: ["`tmuxwire config` shows every setting of the daemon, its variable, and where its value comes from."],
  },
];
