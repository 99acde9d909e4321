/** Every operation through every face: the same input gives the same output, and reaches the server as the same call. */
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { OPERATIONS } from "../../adapters/operations/operationTable.ts";
import { LAYOUT_OPERATION_NAMES, type OperationName } from "../../protocol/api/operationRoutes.ts";
import { type FaceCase, FACES, KEPT_RECORDING, throughFace } from "../support/daemon/faces.ts";

const SERVER = { server: "main" };
const PANE = { server: "main", pane: "work" };
const environment = { A: "1", B: "x=y" };

/** At least one for each operation: the compiler asks for it. */
const CASES: Readonly<Record<OperationName, readonly FaceCase[]>> = {
  listServers: [{ names: {}, input: {}, command: ["servers"] }],
  listSessions: [{ names: SERVER, input: {}, command: ["sessions"] }],
  listWindows: [{ names: SERVER, input: {}, command: ["windows"] }],
  listPanes: [{ names: SERVER, input: {}, command: ["panes"] }],
  tree: [{ names: SERVER, input: {}, command: ["tree"] }],
  describePane: [
    { names: PANE, input: {}, command: ["pane", "work"] },
    { names: { server: "main", pane: "%9/x" }, input: {}, command: ["pane", "%9/x"] },
  ],
  createSession: [
    {
      names: SERVER,
      input: { name: "b", cwd: "/", command: ["sh", "-c", "exit 3"], cols: 90, rows: 20, remainOnExit: true },
      command: ["new", "--cols", "90", "--rows", "20", "--keep", "b", "--", "sh", "-c", "exit 3"],
    },
    { names: SERVER, input: { name: "work", cwd: "/" }, command: ["new", "work"] },
    { names: SERVER, input: { name: "b", cwd: "/no/such" }, command: ["new", "b", "--cwd", "/no/such"] },
  ],
  killSession: [{ names: { server: "main", session: "$0" }, input: {}, command: ["kill", "$0"] }],
  input: [
    {
      names: PANE,
      input: { parts: [{ kind: "text", text: "é x" }, { kind: "keys", keys: ["C-c", "Up"] }, { kind: "enter" }] },
      command: ["send", "--key", "C-c", "--key", "Up", "--enter", "work", "é", "x"],
    },
    {
      names: PANE,
      input: { parts: [{ kind: "keys", keys: ["NoKey"] }] },
      command: ["send", "work", "--key", "NoKey"],
    },
    {
      names: PANE,
      input: { parts: [{ kind: "enter" }], profile: "no-such-program" },
      command: ["send", "work", "--enter", "--profile", "no-such-program"],
    },
  ],
  capture: [
    { names: PANE, input: {}, command: ["capture", "work"] },
    {
      names: PANE,
      input: { lines: 5, joined: true, ansi: true },
      command: ["capture", "work", "--lines", "5", "--joined", "--ansi"],
    },
  ],
  snapshot: [{ names: PANE, input: {}, command: ["snapshot", "work"] }],
  resize: [{ names: PANE, input: { cols: 100, rows: 30 }, command: ["resize", "work", "100", "30"] }],
  wait: [
    {
      names: PANE,
      input: { pattern: { literal: "<Enter>" }, timeoutMs: 5_000, send: { parts: [{ kind: "enter" }] } },
      command: ["wait", "work", "--text", "<Enter>", "--enter", "--timeout", "5"],
    },
    { names: PANE, input: { ready: "idle" }, command: ["wait", "work", "--ready"] },
  ],
  run: [
    {
      names: PANE,
      // Its shell never answers: the time is waited out.
      input: { command: "ls -l", timeoutMs: 200, format: "raw" },
      command: ["run", "--raw", "-t", "0.2", "work", "ls", "-l"],
    },
  ],
  submit: [
    {
      names: PANE,
      input: {
        text: "fix it",
        timeoutMs: 5_000,
        whileBusy: "queue",
        whileTyping: "wait",
        whileUnknown: "type",
        clearFirst: true,
        literal: true,
        profile: "claude",
      },
      idempotencyKey: "k-1",
      command: "submit -t 5 -q -w --while-unknown --clear --literal --profile claude --key k-1 work fix it".split(" "),
    },
  ],
  choose: [
    {
      names: PANE,
      input: { answer: { kind: "option", index: 2 }, dialogId: "d1" },
      idempotencyKey: "k-2",
      command: ["choose", "work", "2", "--dialog", "d1", "--key", "k-2"],
    },
    { names: PANE, input: { answer: { kind: "other", text: "so" } }, command: ["choose", "work", "--other", "so"] },
    {
      names: PANE,
      input: { answer: { kind: "multi", answers: [[0, 2], [1]] } },
      command: ["choose", "work", "0,2", "1"],
    },
    {
      names: PANE,
      input: { answer: { kind: "multi", answers: [[1]] } },
      command: ["choose", "work", "1", "--multi"],
    },
    { names: PANE, input: { answer: { kind: "option", index: 999 } }, command: ["choose", "work", "999"] },
  ],
  interrupt: [{ names: PANE, input: {}, command: ["interrupt", "work"] }],
  clear: [{ names: PANE, input: {}, command: ["clear", "work"] }],
  startRecording: [
    {
      names: PANE,
      input: { version: 3, maxBytes: 100_000, maxSeconds: 60 },
      command: ["start-recording", "work", "--cast-version", "3", "--max-bytes", "100000", "--max-seconds", "60"],
    },
    { names: { server: "main", pane: "%9" }, input: {}, command: ["start-recording", "%9"] },
  ],
  listRecordings: [{ names: {}, input: {}, command: ["recordings"] }],
  stopRecording: [
    { names: { recording: KEPT_RECORDING }, input: {}, command: ["stop-recording", KEPT_RECORDING] },
    { names: { recording: "../token" }, input: {}, command: ["stop-recording", "../token"] },
  ],
  deleteRecording: [{ names: { recording: KEPT_RECORDING }, input: {}, command: ["delete-recording", KEPT_RECORDING] }],
  listAgents: [
    { names: {}, input: {}, command: ["agents"] },
    { names: {}, input: { server: "main", state: "ready" }, command: ["agents", "--on", "main", "--state", "ready"] },
    { names: {}, input: { server: "nowhere" }, command: ["agents", "--on", "nowhere"] },
    { names: {}, input: { text: "$ " }, command: ["agents", "--text", "$ "] },
    { names: {}, input: { text: "x" }, command: ["agents", "--text", "x"] },
  ],
  showAgent: [
    { names: { agent: "api" }, input: {}, command: ["agent", "api"] },
    { names: { agent: "other" }, input: {}, command: ["agent", "other"] },
  ],
  renameAgent: [
    { names: { agent: "api" }, input: { name: "web" }, command: ["rename-agent", "api", "web"] },
    { names: { agent: "other" }, input: { name: "web" }, command: ["rename-agent", "other", "web"] },
  ],
  startAgent: [
    {
      names: {},
      input: { agent: "some", name: "api", prompt: "fix it", cwd: "/srv", args: ["--fast"], worktree: true },
      idempotencyKey: "k1",
      command: "start some fix it --name api --cwd /srv --worktree --key k1 -- --fast".split(" "),
    },
    {
      names: {},
      input: { agent: "some", cwd: "/srv", where: { kind: "split", pane: "work" }, worktree: { branch: "b" } },
      command: ["start", "some", "--cwd", "/srv", "--split", "work", "--branch", "b"],
    },
    {
      names: {},
      input: { agent: "some", cwd: "/srv", where: { kind: "window", session: "nowhere" } },
      command: ["start", "some", "--cwd", "/srv", "--window", "nowhere"],
    },
  ],
  resumeAgents: [
    { names: {}, input: { agents: ["api"] }, command: ["resume", "api"] },
    { names: {}, input: { all: true, plan: true }, command: ["resume", "--all"] },
    { names: {}, input: { all: true, plan: false }, command: ["resume", "--all", "--yes"] },
  ],
  listWorktrees: [{ names: {}, input: {}, command: ["worktrees"] }],
  removeWorktree: [
    { names: { worktree: "shop-a" }, input: {}, command: ["remove-worktree", "shop-a"] },
    { names: { worktree: "shop-b" }, input: {}, command: ["remove-worktree", "shop-b"] },
  ],
  tell: [
    {
      names: { agent: "api" },
      input: { text: "go on", when: "now", ttlSec: 7_200, wait: "done", orAsking: true, timeoutMs: 5_000 },
      idempotencyKey: "once",
      command: "tell api go on --when now --ttl 2h --wait done --or-asking --timeout 5 --key once".split(" "),
    },
    { names: { agent: "other" }, input: { text: "go on" }, command: ["tell", "other", "go on"] },
  ],
  listMessages: [
    { names: {}, input: {}, command: ["messages"] },
    { names: {}, input: { agent: "api" }, command: ["messages", "api"] },
    { names: {}, input: { agent: "other" }, command: ["messages", "other"] },
  ],
  agentMessages: [{ names: { agent: "api" }, input: {}, command: ["agent-messages", "api"] }],
  cancelMessage: [
    {
      names: { message: "msg-0a1b2c3d4e5f607182" },
      input: {},
      command: ["cancel", "msg-0a1b2c3d4e5f607182"],
    },
    { names: { message: "other" }, input: {}, command: ["cancel", "other"] },
  ],
  waitAgent: [
    {
      names: { agent: "api" },
      input: { for: ["ready", "stalled"], stalledSec: 60, timeoutMs: 5_000 },
      command: ["agent-wait", "api", "--for", "ready,stalled", "--stalled", "60", "--timeout", "5"],
    },
  ],
  answerAgent: [
    {
      names: { agent: "api" },
      input: { answer: { kind: "option", index: 1 }, dialogId: "d", timeoutMs: 2_000 },
      idempotencyKey: "once",
      command: ["answer", "api", "1", "--dialog", "d", "--timeout", "2", "--key", "once"],
    },
  ],
  interruptAgent: [{ names: { agent: "api" }, input: {}, command: ["agent-interrupt", "api"] }],
  endAgent: [
    { names: { agent: "gone" }, input: {}, command: ["end", "gone"] },
    {
      names: { agent: "other" },
      input: { force: true, timeoutMs: 1_000 },
      command: ["end", "other", "--force", "--timeout", "1"],
    },
  ],
  timeline: [
    { names: {}, input: {}, command: ["timeline"] },
    {
      names: {},
      input: { agent: "api", query: "delete", kind: "answer", before: 40, limit: 20, server: "main" },
      command: "timeline api --search delete --kind answer --before 40 --limit 20 --on main".split(" "),
    },
    { names: {}, input: { agent: "other" }, command: ["timeline", "other"] },
  ],
  listHosts: [{ names: {}, input: {}, command: ["hosts"] }],
  addHost: [
    {
      names: {},
      input: { name: "box", destination: "ssh://me@box:2222", sshConfig: "/etc/ssh/config", program: "/opt/tmuxwire" },
      command: "hosts add box ssh://me@box:2222 --ssh-config /etc/ssh/config --program /opt/tmuxwire".split(" "),
    },
    { names: {}, input: { name: "build", destination: "box" }, command: ["hosts", "add", "build", "box"] },
    { names: {}, input: { name: "a@b", destination: "box" }, command: ["hosts", "add", "a@b", "box"] },
    {
      names: {},
      input: { name: "box", destination: "-oProxyCommand=true" },
      command: ["hosts", "add", "--", "box", "-oProxyCommand=true"],
    },
  ],
  showHost: [
    { names: { host: "build" }, input: {}, command: ["hosts", "show", "build"] },
    { names: { host: "biuld" }, input: {}, command: ["hosts", "show", "biuld"] },
  ],
  removeHost: [
    { names: { host: "build" }, input: {}, command: ["hosts", "rm", "build"] },
    { names: { host: "box" }, input: {}, command: ["hosts", "rm", "box"] },
  ],
  listChannels: [{ names: {}, input: {}, command: ["notify"] }],
  addChannel: [
    {
      names: {},
      input: { kind: "webhook", url: "http://127.0.0.1:9/x", on: ["asking", "host"], text: true, quiet: "22:00-07:00" },
      command: "notify add webhook http://127.0.0.1:9/x --on asking,host --text --quiet 22:00-07:00".split(" "),
    },
    {
      names: {},
      input: { kind: "ntfy", url: "https://ntfy.sh/topic", name: "phone" },
      command: "notify add ntfy https://ntfy.sh/topic --name phone".split(" "),
    },
    {
      names: {},
      input: { kind: "fax", url: "https://ntfy.sh/topic" },
      command: "notify add fax https://ntfy.sh/topic".split(" "),
    },
  ],
  testChannel: [
    { names: { notification: "phone" }, input: {}, command: ["notify", "test", "phone"] },
    { names: { notification: "phoen" }, input: {}, command: ["notify", "test", "phoen"] },
  ],
  removeChannel: [
    { names: { notification: "phone" }, input: {}, command: ["notify", "rm", "phone"] },
    { names: { notification: "phoen" }, input: {}, command: ["notify", "rm", "phoen"] },
  ],
  "new-window": [
    {
      names: SERVER,
      input: {
        session: "work",
        name: "n",
        after: "@0",
        detached: true,
        command: ["sh", "-c", "a b"],
        cwd: "/",
        environment,
      },
      command: [
        "new-window",
        "--name",
        "n",
        "--after",
        "@0",
        "--detached",
        "--cwd",
        "/",
        "-e",
        "A=1",
        "-e",
        "B=x=y",
        "work",
        "--",
        "sh",
        "-c",
        "a b",
      ],
    },
  ],
  "split-window": [
    {
      names: SERVER,
      input: { pane: "%0", direction: "horizontal", size: "30%", before: true, full: true, detached: true },
      command: ["split-window", "%0", "--direction", "horizontal", "--size", "30%", "--before", "--full", "--detached"],
    },
    { names: SERVER, input: { pane: "%0", size: 12 }, command: ["split-window", "%0", "--size", "12"] },
    { names: SERVER, input: { pane: "%0", size: "0%" }, command: ["split-window", "%0", "--size", "0%"] },
  ],
  "kill-pane": [{ names: SERVER, input: { pane: "work" }, command: ["kill-pane", "work"] }],
  "kill-window": [{ names: SERVER, input: { window: "@0" }, command: ["kill-window", "@0"] }],
  "rename-window": [{ names: SERVER, input: { window: "@0", name: "12" }, command: ["rename-window", "@0", "12"] }],
  "rename-session": [
    { names: SERVER, input: { session: "work", name: "done" }, command: ["rename-session", "work", "done"] },
  ],
  "select-pane": [
    {
      names: SERVER,
      input: { pane: "work", direction: "left" },
      command: ["select-pane", "work", "--direction", "left"],
    },
  ],
  "select-window": [
    {
      names: SERVER,
      input: { window: "@0", session: "work" },
      command: ["select-window", "@0", "--session", "work"],
    },
  ],
  "swap-pane": [
    {
      names: SERVER,
      input: { pane: "%0", with: "work", detached: true },
      command: ["swap-pane", "--detached", "%0", "work"],
    },
  ],
  "move-pane": [
    { names: SERVER, input: { pane: "%0", to: "work", full: true }, command: ["move-pane", "%0", "work", "--full"] },
  ],
  "join-pane": [
    { names: SERVER, input: { pane: "%0", to: "work", size: 5 }, command: ["join-pane", "%0", "work", "--size", "5"] },
  ],
  "break-pane": [
    {
      names: SERVER,
      input: { pane: "%0", session: "work", name: "n" },
      command: ["break-pane", "%0", "--session", "work", "--name", "n"],
    },
  ],
  "resize-pane": [
    {
      names: SERVER,
      input: { pane: "%0", cols: "40%", rows: 9 },
      command: ["resize-pane", "%0", "--cols", "40%", "--rows", "9"],
    },
    {
      names: SERVER,
      input: { pane: "%0", direction: "up", cells: 3 },
      command: ["resize-pane", "%0", "--direction", "up", "--cells", "3"],
    },
    { names: SERVER, input: { pane: "%0", zoom: true }, command: ["resize-pane", "%0", "--zoom"] },
    { names: SERVER, input: { pane: "%0", zoom: false }, command: ["resize-pane", "%0", "--unzoom"] },
  ],
  "resize-window": [
    {
      names: SERVER,
      input: { window: "work", cols: 120, rows: 40 },
      command: ["resize-window", "work", "--cols", "120", "--rows", "40"],
    },
    { names: SERVER, input: { window: "work", automatic: true }, command: ["resize-window", "work", "--automatic"] },
  ],
  "select-layout": [
    { names: SERVER, input: { window: "work", layout: "tiled" }, command: ["select-layout", "work", "tiled"] },
  ],
  "respawn-pane": [
    {
      names: SERVER,
      input: { pane: "%0", command: ["make", "-j8"], cwd: "/", environment: { A: "1" } },
      command: ["respawn-pane", "--cwd", "/", "--environment", "A=1", "%0", "--", "make", "-j8"],
    },
  ],
  "clear-history": [{ names: SERVER, input: { pane: "work" }, command: ["clear-history", "work"] }],
  "set-window-option": [
    {
      names: SERVER,
      input: { window: "work", option: "mode-keys", value: "vi" },
      command: ["set-window-option", "work", "mode-keys", "vi"],
    },
    {
      names: SERVER,
      input: { window: "work", option: "mode-keys", value: null },
      command: ["set-window-option", "work", "mode-keys"],
    },
  ],
  "set-pane-option": [
    {
      names: SERVER,
      input: { pane: "work", option: "remain-on-exit", value: "on" },
      command: ["set-pane-option", "work", "remain-on-exit", "on"],
    },
  ],
};

const [[reference, first], ...others] = Object.entries(FACES) as [
  [string, (typeof FACES)[string]],
  ...[string, (typeof FACES)[string]][],
];

describe.each(Object.keys(OPERATIONS) as OperationName[])("%s", (name) => {
  test.each(CASES[name].map((each) => [each.command.join(" "), each] as const))("%s", async (_line, each) => {
    const expected = await throughFace(first, name, each);
    if ("output" in expected.outcome) v.parse(OPERATIONS[name].output, expected.outcome.output);
    for (const [face, call] of others) {
      // oxlint-disable-next-line no-await-in-loop -- one daemon after another
      expect({ face, ...(await throughFace(call, name, each)) }).toEqual({ face, ...expected });
    }
    expect(reference).toBe("in process");
  });
});

test("most of what is compared is done, not refused", async () => {
  const refused: string[] = [];
  for (const name of Object.keys(OPERATIONS) as OperationName[]) {
    const [each] = CASES[name];
    // oxlint-disable-next-line no-await-in-loop -- one daemon after another
    if (each !== undefined && !("output" in (await throughFace(first, name, each)).outcome)) refused.push(name);
  }
  // A stub has no shell, and one pane in one window: these reach it and are refused there.
  const needAnother = ["new-window", "split-window", "swap-pane", "move-pane", "join-pane", "break-pane"];
  expect(refused.toSorted()).toEqual(["run", ...needAnother, "resize-pane", "respawn-pane"].toSorted());
  expect(LAYOUT_OPERATION_NAMES).toEqual(expect.arrayContaining(needAnother));
});
