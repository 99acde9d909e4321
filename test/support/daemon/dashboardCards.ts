/** Cards as the dashboard's server sends them, for tests of the page. */
import { type AgentCard, agentCard } from "../../../adapters/dashboard/page/model/agentCard.ts";
import type { DashboardCard } from "../../../protocol/api/dashboard.ts";
import type { FakeCard } from "./dashboardFake.ts";

const MINUTE_MS = 60_000;

export function card(agentId: number, fields: FakeCard = {}): FakeCard {
  return {
    id: agentId,
    agent_id: agentId,
    project_id: 1,
    project_name: `project-${agentId}`,
    project_path: `/srv/project-${agentId}`,
    session: `a1b2c3d${agentId}`,
    session_uuid: `0000-${agentId}`,
    state: "IDLE",
    is_bridge_connected: true,
    is_active: true,
    elapsed: 0,
    last_seen: new Date().toISOString(),
    state_since_unix_ms: Date.now() - MINUTE_MS,
    priority: 0,
    reason: "",
    tmux_pane_id: `%${agentId}`,
    tmux_session: "work",
    readiness: readiness("idle", "screen"),
    question: null,
    last_delivery: null,
    ...fields,
  };
}

/** What the daemon has found of its process. */
export const running = (fields: FakeCard = {}): FakeCard => ({
  id: "agent-000000000001",
  name: "api",
  agent: "claude",
  version: "2.1.330",
  cwd: "/srv/shop",
  branch: "main",
  worktree: null,
  task: null,
  last_message: null,
  messages: [],
  ...fields,
});

/** As the page has it. */
export const shownCard = (sent: FakeCard): AgentCard => agentCard(sent as unknown as DashboardCard);

export const readiness = (state: string, source: string, agoMs = MINUTE_MS): FakeCard => ({
  state,
  source,
  since_unix_ms: Date.now() - agoMs,
  profile: "claude",
});

interface AskOptions {
  readonly text?: string;
  readonly agoMs?: number;
  readonly dialogId?: string;
  readonly name?: string;
  readonly labels?: readonly string[];
}

const PERMISSION = [
  "Yes",
  "Yes, and don't ask again for npm test commands in /srv/shop",
  "No, and tell Claude what to do differently (esc)",
];

/** A permission dialog with numbered options, the last of them behind free text. */
export function permissionCard(agentId: number, options: AskOptions = {}): FakeCard {
  const {
    text = "Bash command\n\n  npm test -- --run checkout\n  Run the checkout tests\n\nDo you want to proceed?",
    agoMs = MINUTE_MS,
  } = options;
  const labels = options.labels ?? PERMISSION;
  return asking(agentId, options, agoMs, {
    text,
    kind: "select",
    options: labels.map((label, index) => ({ index, number: String(index + 1), label, keys: [String(index + 1)] })),
    other_index: labels.length - 1,
    dialog_id: options.dialogId ?? `dialog-${agentId}`,
  });
}

/** A list without numbers and without a way for free text. */
export const listCard = (agentId: number, options: AskOptions = {}): FakeCard =>
  asking(agentId, options, options.agoMs ?? MINUTE_MS, {
    text: options.text ?? "Which database should the new service use?",
    kind: "select",
    options: ["PostgreSQL", "SQLite", "MySQL"].map((label, index) => ({
      index,
      number: null,
      label,
      keys: [...Array.from({ length: index }, () => "Down"), "Enter"],
    })),
    other_index: null,
    dialog_id: `list-${agentId}`,
  });

export const severalCard = (agentId: number, options: AskOptions = {}): FakeCard =>
  asking(agentId, options, options.agoMs ?? MINUTE_MS, {
    text: options.text ?? "Which checks should run before each commit?",
    kind: "multi_select",
    options: ["Types", "Lint", "Unit tests", "Live tests"].map((label, index) => ({
      index,
      number: null,
      label,
      keys: [],
    })),
    other_index: null,
    dialog_id: `several-${agentId}`,
  });

export const textCard = (agentId: number, options: AskOptions = {}): FakeCard =>
  asking(agentId, options, options.agoMs ?? MINUTE_MS, {
    text: options.text ?? "The migration is ready. Should I also backfill the old orders, or leave them as they are?",
    kind: "text",
    options: [],
    other_index: null,
    dialog_id: null,
  });

function asking(agentId: number, options: AskOptions, agoMs: number, question: FakeCard): FakeCard {
  return card(agentId, {
    ...(options.name === undefined ? {} : { project_name: options.name }),
    state: "AWAITING_INPUT",
    state_since_unix_ms: Date.now() - agoMs,
    readiness: readiness("asking", question["kind"] === "text" ? "hook" : "screen", agoMs),
    question: { turn_id: agentId * 10, ...question },
  });
}

/** The frames of a pane's stream that begin it: its screen, drawn by these bytes. */
export function snapshotFrames(cols: number, rows: number, screen: string): string {
  const open = { server: "user", pane: "%1", position: "e:0", cols, rows };
  const data = Buffer.from(screen).toString("base64");
  const snapshot = { position: "e:0", exact: true, cols, rows, alternateScreen: false, data };
  return `id: e:0\nevent: open\ndata: ${JSON.stringify(open)}\n\nid: e:0\nevent: snapshot\ndata: ${JSON.stringify(snapshot)}\n\n`;
}

export const outputFrame = (output: string): string =>
  `id: e:1\nevent: output\ndata: ${Buffer.from(output).toString("base64")}\n\n`;
