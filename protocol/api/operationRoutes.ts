/**
 * The HTTP route of each operation of the native API (docs/contracts/native.md §3). This is the list of all operations: the
 * compiler checks the daemon's routes, the client's requests and the table of operations against it. The client loads it in
 * browsers, so it does not use the schema library.
 */

/** In every response of the native listener: the daemon's version. */
export const VERSION_HEADER = "Tmuxwire-Version";

/** Of a request by another machine's daemon: what this machine's own hosts have is not in its lists. */
export const OWN_ONLY_HEADER = "tmuxwire-own-only";

export interface OperationRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** `:server`, `:session`, `:pane`, `:recording`, `:agent`, `:worktree`, `:message`, `:host` and `:notification` are the names of the target. */
  readonly path: string;
  /** The status of a success; default 200. */
  readonly status?: 201 | undefined;
}

/** Under tmux's own names, in the order in which help and OpenAPI list them. */
export const LAYOUT_OPERATION_NAMES = [
  "new-window",
  "split-window",
  "kill-pane",
  "kill-window",
  "rename-window",
  "rename-session",
  "select-pane",
  "select-window",
  "swap-pane",
  "move-pane",
  "join-pane",
  "break-pane",
  "resize-pane",
  "resize-window",
  "select-layout",
  "respawn-pane",
  "clear-history",
  "set-window-option",
  "set-pane-option",
] as const;
export type LayoutOperationName = (typeof LAYOUT_OPERATION_NAMES)[number];

/** The target of an operation, by the caller's names. */
export interface OperationNames {
  readonly server?: string | undefined;
  readonly session?: string | undefined;
  readonly pane?: string | undefined;
  readonly recording?: string | undefined;
  readonly agent?: string | undefined;
  readonly worktree?: string | undefined;
  readonly message?: string | undefined;
  readonly host?: string | undefined;
  /** A channel of notifications. */
  readonly notification?: string | undefined;
}

const SERVER = "/v1/servers/:server";
const PANE = `${SERVER}/panes/:pane`;
const RECORDING = "/v1/recordings/:recording";
const AGENT = "/v1/agents/:agent";

export const OPERATION_ROUTES = {
  listServers: { method: "GET", path: "/v1/servers" },
  listSessions: { method: "GET", path: `${SERVER}/sessions` },
  createSession: { method: "POST", path: `${SERVER}/sessions`, status: 201 },
  killSession: { method: "DELETE", path: `${SERVER}/sessions/:session` },
  listPanes: { method: "GET", path: `${SERVER}/panes` },
  describePane: { method: "GET", path: PANE },
  input: { method: "POST", path: `${PANE}/input` },
  capture: { method: "GET", path: `${PANE}/capture` },
  snapshot: { method: "GET", path: `${PANE}/snapshot` },
  wait: { method: "POST", path: `${PANE}/wait` },
  run: { method: "POST", path: `${PANE}/run` },
  submit: { method: "POST", path: `${PANE}/submit` },
  choose: { method: "POST", path: `${PANE}/choose` },
  interrupt: { method: "POST", path: `${PANE}/interrupt` },
  clear: { method: "POST", path: `${PANE}/clear` },
  resize: { method: "POST", path: `${PANE}/size` },
  startRecording: { method: "POST", path: `${PANE}/recordings`, status: 201 },
  listRecordings: { method: "GET", path: "/v1/recordings" },
  stopRecording: { method: "POST", path: `${RECORDING}/stop` },
  deleteRecording: { method: "DELETE", path: RECORDING },
  listWindows: { method: "GET", path: `${SERVER}/windows` },
  tree: { method: "GET", path: `${SERVER}/tree` },
  ...layoutRoutes(),
  listAgents: { method: "GET", path: "/v1/agents" },
  showAgent: { method: "GET", path: AGENT },
  renameAgent: { method: "POST", path: `${AGENT}/rename` },
  startAgent: { method: "POST", path: "/v1/agents", status: 201 },
  resumeAgents: { method: "POST", path: "/v1/agents/resume" },
  listWorktrees: { method: "GET", path: "/v1/worktrees" },
  removeWorktree: { method: "DELETE", path: "/v1/worktrees/:worktree" },
  tell: { method: "POST", path: `${AGENT}/messages` },
  listMessages: { method: "GET", path: "/v1/messages" },
  agentMessages: { method: "GET", path: `${AGENT}/messages` },
  cancelMessage: { method: "DELETE", path: "/v1/messages/:message" },
  waitAgent: { method: "POST", path: `${AGENT}/wait` },
  answerAgent: { method: "POST", path: `${AGENT}/answer` },
  interruptAgent: { method: "POST", path: `${AGENT}/interrupt` },
  endAgent: { method: "POST", path: `${AGENT}/end` },
  timeline: { method: "GET", path: "/v1/timeline" },
  listHosts: { method: "GET", path: "/v1/hosts" },
  addHost: { method: "POST", path: "/v1/hosts", status: 201 },
  showHost: { method: "GET", path: "/v1/hosts/:host" },
  removeHost: { method: "DELETE", path: "/v1/hosts/:host" },
  listChannels: { method: "GET", path: "/v1/notifications" },
  addChannel: { method: "POST", path: "/v1/notifications", status: 201 },
  removeChannel: { method: "DELETE", path: "/v1/notifications/:notification" },
  testChannel: { method: "POST", path: "/v1/notifications/:notification/test" },
} as const satisfies Readonly<Record<string, OperationRoute>>;

export type OperationName = keyof typeof OPERATION_ROUTES;

function layoutRoutes(): Readonly<Record<LayoutOperationName, OperationRoute>> {
  const routes = LAYOUT_OPERATION_NAMES.map((name) => [name, { method: "POST", path: `${SERVER}/layout/${name}` }]);
  return Object.fromEntries(routes) as Record<LayoutOperationName, OperationRoute>;
}
