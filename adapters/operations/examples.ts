/** Examples that several descriptions share. */
import { paneIdOf } from "../../protocol/ids.ts";
import type { NativePane, NativeSession } from "../../protocol/api/native/nativeResponses.ts";
import type { NativeMessage } from "../../protocol/api/native/nativeAgentMessages.ts";
import type { NativeAgent } from "../../protocol/api/native/nativeAgents.ts";
import type { NativeDelivery } from "../../protocol/api/native/nativeDelivery.ts";
import type { NativeRecording } from "../../protocol/api/native/nativeRecordings.ts";
import type { NativeTreeResponse, NativeTreeWindow } from "../../protocol/api/native/nativeTree.ts";

export const EXAMPLE_SESSION = {
  id: "$0",
  name: "work",
  windows: ["@0"],
  activePane: "%5",
  createdSec: 1_795_149_767,
} satisfies NativeSession;

export const EXAMPLE_PANE = {
  id: "%5",
  window: "@0",
  sessions: ["work"],
  cols: 120,
  rows: 40,
  active: true,
  pid: 4_242,
  title: "project",
  dead: false,
  exit: null,
  position: "k3Jd9:1024",
  readiness: {
    state: "idle",
    source: "bracketedPaste",
    sinceUnixMs: 1_795_149_767_000,
    position: "k3Jd9:980",
    profile: "shell",
  },
} satisfies NativePane;

export const EXAMPLE_WINDOW = {
  id: "@0",
  name: "bash",
  cols: 120,
  rows: 40,
  layout: "ab02,120x40,0,0,5",
  root: { kind: "pane", cols: 120, rows: 40, left: 0, top: 0, pane: paneIdOf(5) },
  zoomed: false,
  panes: ["%5"],
  activePane: "%5",
} satisfies NativeTreeWindow;

export const EXAMPLE_TREE = {
  id: "0f1e2d3c4b5a:17",
  state: "ready",
  sessions: [
    {
      id: "$0",
      name: "work",
      createdSec: 1_795_149_767,
      windows: [{ index: 0, window: "@0" }],
      activeWindow: "@0",
    },
  ],
  windows: [EXAMPLE_WINDOW],
  panes: [{ id: "%5", window: "@0", cols: 120, rows: 40, pid: 4_242, title: "project", exit: null }],
} satisfies NativeTreeResponse;

export const EXAMPLE_DELIVERY = {
  outcome: "submitted",
  position: "k3Jd9:1024",
  latencyMs: 212.5,
  firstByteMs: 4.2,
  enterMs: 118,
  enterPresses: 1,
  confirmedBy: "readiness",
} satisfies NativeDelivery;

export const EXAMPLE_RECORDING = {
  id: "20261120T064247Z-1f2e3d4c",
  server: "main",
  pane: "%5",
  path: "/home/me/.local/state/tmuxwire/recordings/20261120T064247Z-1f2e3d4c.cast",
  version: 2,
  input: false,
  startedUnixMs: 1_795_149_767_000,
  recording: true,
  durationMs: 60_000,
  bytes: 18_211,
  gaps: 0,
  endedBy: null,
} satisfies NativeRecording;

export const EXAMPLE_AGENT = {
  id: "agent-3f9c21ab04de",
  name: "api",
  agent: "agent",
  version: "2.1.330",
  state: "busy",
  sinceUnixMs: 1_795_149_767_000,
  why: "its title says so",
  task: { text: "fix the failing test", sinceUnixMs: 1_795_149_766_000 },
  lastMessage: null,
  question: null,
  cwd: "/home/me/project",
  branch: "main",
  worktree: null,
  server: "main",
  session: "work",
  window: "@0",
  pane: "%5",
  pid: 4_242,
  sessionId: null,
  startedBy: "api",
  leader: null,
} satisfies NativeAgent;

export const EXAMPLE_MESSAGE = {
  id: "msg-0a1b2c3d4e5f60718293",
  agent: "agent-3f9c21ab04de",
  name: "api",
  text: "now run the tests",
  when: "idle",
  outcome: "waiting",
  reason: "the agent is busy",
  confirmedBy: null,
  createdUnixMs: 1_795_149_767_000,
  expiresUnixMs: 1_795_236_167_000,
  deliveredUnixMs: null,
  doneUnixMs: null,
  lastWords: null,
} satisfies NativeMessage;
