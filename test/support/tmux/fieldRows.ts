/** What a person or a script may type in a pane, and what comes of it (docs/tmuxFacts.md 51). */
import { ownHub } from "./failureScenarios.ts";
import type { FieldScene } from "./fieldScene.ts";
import type { PrivateSocket } from "./ownedFixture.ts";
import { survivesClipboardQuery } from "./tmuxWords.ts";

export interface FieldRow {
  readonly command: string | ((scene: FieldScene) => string);
  /** Only where it means something. */
  readonly only?: "owned" | "guest";
  /** Takes back what the server is to be left without. */
  readonly after?: string;
  /** The connection that carries the lines is made anew or the pane's hole is declared; otherwise nothing is lost. */
  readonly costs?: boolean;
  /** tmux itself crashes under it now and then, whoever is attached (docs/tmuxFacts.md 51). */
  readonly mayCrash?: boolean;
  /** What it is called where the command is made for the scene. */
  readonly name?: string;
  /** The class of fault that it stands for in the live suite; the load test types them all. */
  readonly standsFor?: string;
}

const hub = (scene: FieldScene): string => ownHub(scene.socket).hub;

export const nameOf = ({ name, command }: FieldRow): string =>
  name ??
  (typeof command === "string" ? command : (/[`"]([^`]*)[`"]\)?$/.exec(command.toString())?.[1] ?? command.toString()));

export const FIELD_ROWS: readonly FieldRow[] = [
  { command: "tmux switch-client -t other", costs: true, standsFor: "our client is moved away" },
  // Those that carry a guest's output too, which tmux does not choose by itself.
  {
    command: ({ socket }) => everyClient(socket, "switch-client -t other -c"),
    costs: true,
    standsFor: "all our clients are moved away",
  },
  { command: "tmux switch-client -n", costs: true },
  { command: "tmux switch-client -p", costs: true },
  { command: "tmux switch-client -l" },
  { command: "tmux switch-client -r", costs: true },
  { command: "tmux switch-client -T prefix" },
  { command: "tmux suspend-client", costs: true },
  {
    command: ({ socket }) => everyClient(socket, "suspend-client -t"),
    costs: true,
    standsFor: "our client is stopped",
  },
  { command: "tmux detach-client", costs: true, standsFor: "our client is detached" },
  {
    command: ({ socket }) => everyClient(socket, "detach-client -t"),
    costs: true,
    standsFor: "all our clients are detached",
  },
  { command: "tmux detach-client -a" },
  { command: "tmux detach-client -P", costs: true },
  { command: "tmux detach-client -s ticking" },
  { command: "tmux detach-client -E true" },
  {
    command: ({ socket }) => everyClient(socket, "refresh-client -f no-output -t"),
    costs: true,
    standsFor: "no output comes",
  },
  {
    command: ({ socket }) => everyClient(socket, "refresh-client -f read-only -t"),
    costs: true,
    standsFor: "no command is taken",
  },
  {
    command: ({ socket }) => everyClient(socket, "refresh-client -f '!ignore-size' -t"),
    costs: true,
  },
  {
    command: ({ socket }) => everyClient(socket, "refresh-client -f '!pause-after' -t"),
    costs: true,
    standsFor: "a flag of ours is gone",
  },
  { command: "tmux refresh-client -f active-pane,wait-exit" },
  {
    command: ({ socket, ticking }) => everyClient(socket, `refresh-client -A ${ticking}:off -t`),
    costs: true,
    mayCrash: true,
    standsFor: "a pane is off",
  },
  {
    command: ({ socket, ticking }) => everyClient(socket, `refresh-client -A ${ticking}:pause -t`),
    costs: true,
    standsFor: "a pane is paused",
  },
  { command: ({ ticking }) => `tmux refresh-client -A ${ticking}:on` },
  { command: "tmux refresh-client -B 'x:%*:#{pane_title}'" },
  { command: "tmux refresh-client -C 20x10" },
  { command: "tmux refresh-client -S" },
  { command: "tmux refresh-client -c" },
  ...(survivesClipboardQuery() ? [{ command: "tmux refresh-client -l" }] : []),
  { command: "tmux lock-client" },
  { command: "tmux lock-session -t ticking" },
  { command: "tmux lock-server" },
  { command: "tmux server-access -r $(id -un)" },
  { command: "tmux server-access -d $(id -un)" },
  {
    command: (scene) => `tmux kill-session -t '=${hub(scene)}'`,
    only: "owned",
    costs: true,
    standsFor: "the hub is gone",
  },
  {
    command: (scene) => `tmux rename-session -t '=${hub(scene)}' mine`,
    only: "owned",
    standsFor: "the hub has another name",
  },
  { command: (scene) => `tmux kill-window -t '=${hub(scene)}:0'`, only: "owned", costs: true },
  {
    command: ({ ticking, ...scene }) =>
      `tmux unlink-window -t '=${hub(scene as FieldScene)}:'$(tmux display -p -t ${ticking} '#{window_id}')`,
    only: "owned",
    costs: true,
    standsFor: "a window has left the hub",
  },
  { command: "tmux set-hook -gu window-linked", only: "owned", costs: true, standsFor: "a hook of ours is gone" },
  { command: "tmux set-hook -gu pane-died", only: "owned", costs: true },
  { command: (scene) => `tmux set-hook -u -t '=${hub(scene)}:' client-detached`, only: "owned" },
  {
    command: "tmux set-hook -g after-send-keys 'send-keys -t other: -l x'",
    after: "tmux set-hook -gu after-send-keys",
    standsFor: "a hook that recurses",
  },
  { command: "tmux set-hook -g after-send-keys 'run-shell true'", after: "tmux set-hook -gu after-send-keys" },
  {
    command: "tmux set-hook -g after-display-message 'display-message -p x'",
    after: "tmux set-hook -gu after-display-message",
  },
  ...["send-keys", "display-message", "list-windows", "list-panes", "copy-mode", "refresh-client", "capture-pane"].map(
    (name) => ({
      command: `tmux set-option -s 'command-alias[100]' '${name}=list-keys -N'`,
      after: "tmux set-option -su 'command-alias[100]'",
      ...(name === "send-keys" ? { standsFor: "a command of ours is redefined" } : {}),
    }),
  ),
  { command: "tmux set-option -g detach-on-destroy off", after: "tmux set-option -gu detach-on-destroy" },
  { command: "tmux set-option -g status on" },
  { command: "tmux set-option -g message-limit 1", after: "tmux set-option -gu message-limit" },
  { command: "tmux set-option -g default-shell /bin/false", after: "tmux set-option -gu default-shell" },
  { command: "tmux set-option -g remain-on-exit on", after: "tmux set-option -gu remain-on-exit" },
  { command: "tmux set-option -s exit-empty on" },
  { command: "tmux set-option -g update-environment FOO" },
  { command: "tmux set-environment -g PATH /nonexistent", after: "tmux set-environment -gu PATH" },
  { command: ({ ticking }) => `tmux copy-mode -t ${ticking}` },
  { command: ({ ticking }) => `tmux choose-tree -t ${ticking}` },
  { command: ({ ticking }) => `tmux clear-history -t ${ticking}` },
  { command: ({ ticking }) => `tmux pipe-pane -t ${ticking} 'cat >/dev/null'` },
  { command: ({ ticking }) => `tmux resize-window -t ${ticking} -x 90 -y 20` },
  { command: "tmux set-option -w -t ticking: synchronize-panes on" },
  { command: "tmux move-window -s ticking: -t ticking:7" },
  { command: "tmux link-window -s ticking: -t other:9 && tmux unlink-window -t other:9" },
  {
    command: "tmux swap-window -d -s ticking: -t other:",
    after: "tmux swap-window -d -s ticking: -t other:",
    standsFor: "a window changes its session and nobody is told",
  },
  {
    command: ({ ticking }) => `tmux split-window -d -t ${ticking} cat && tmux swap-pane -d -s ${ticking} -t ticking:.1`,
  },
  {
    command: ({ ticking }) => `tmux break-pane -d -s ${ticking} && tmux join-pane -d -s ${ticking} -t ticking:; true`,
  },
  { command: "tmux kill-window -t $(tmux new-window -d -P -F '#{window_id}' cat)" },
  { command: (scene) => `tmux new-window -d -t '=${hub(scene)}:' cat`, only: "owned" },
  { command: "tmux display-panes -b" },
  { command: "tmux display-message hello" },
  { command: "tmux display-menu -x 0 -y 0 one o '' & sleep 0.2" },
  { command: "timeout 1 tmux display-popup -E true; true" },
  { command: "timeout 1 tmux command-prompt -p name; true" },
  { command: "timeout 1 tmux confirm-before kill-server; true" },
  { command: "tmux wait-for -L field && tmux wait-for -U field" },
  { command: "tmux run-shell 'sleep 0.3'" },
  { command: "tmux show-messages" },
  { command: "echo 'switch-client -t other' >x.conf && tmux source-file x.conf; rm x.conf", costs: true },
  { command: "tmux start-server" },
  { command: "tmux new-session -d -A -s ticking; true" },
  { command: "timeout 1 script -qc 'env -u TMUX tmux -S ${TMUX%%,*} attach-session -d -t ticking' /dev/null; true" },
  { command: "timeout 1 script -qc 'env -u TMUX tmux -S ${TMUX%%,*} attach-session -x -t ticking' /dev/null; true" },
  {
    command: ({ typing }) => `tmux select-pane -d -t ${typing}; sleep 0.5; tmux select-pane -e -t ${typing}`,
    standsFor: "input is off",
  },
];

/** Ours are all there are. */
const everyClient = (socket: PrivateSocket, command: string): string =>
  socket
    .tmux("list-clients", "-F", "#{client_name}")
    .trim()
    .split("\n")
    .map((name) => `tmux ${command} ${name}`)
    .join("; ");
