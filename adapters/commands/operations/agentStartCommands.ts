/** `tmuxwire start`, `resume` and `worktrees`: start an agent, bring back what ran, and the worktrees made for agents. */
import { OWN_SERVER_NAME } from "../../../daemon/ops/daemonConfig.ts";
import type { NativeAgentStarted, NativeResumedAgents, NativeStartAgent, NativeWorktree } from "../../client/client.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { usageError } from "../../cli/parseCommand.ts";
import { printable, table } from "../../cli/textTable.ts";
import { SUBMIT_EXIT_CODES } from "./deliveryCommands.ts";
import { readText } from "./inputParts.ts";
import { startDirectory } from "../connection/clientConnection.ts";
import { operationCommand } from "./operationCommand.ts";
import { HERE_OR_HOME, keyOption, TIMEOUT_OPTION, timeoutOf } from "./paneArguments.ts";
import { PROFILE_NAMES } from "../../agents/profileNames.ts";

/** Other exit codes are for errors: nothing was started. */
const EXIT_CODES: Readonly<Record<NativeAgentStarted["outcome"], number>> = {
  ...SUBMIT_EXIT_CODES,
  ready: 0,
  asking: 10,
  refused: 10,
  late: 124,
  ended: 1,
};

const ONE = PROFILE_NAMES[0] ?? "AGENT";

export const startCommand = operationCommand<NativeAgentStarted>({
  operation: "startAgent",
  name: "start",
  details: [
    "Returns when the agent has taken the prompt, and prints its name. Words are joined with a space; `-` alone reads the " +
      "prompt from standard input; what stands after `--` are the agent's own arguments. Without --session, --window or " +
      "--split it gets a session of its own. When it ends, a shell comes in its pane.",
    "Exit codes: 0 it works on the prompt, or is ready if there was none; 10 it asks something first (`tmuxwire agent NAME` " +
      "shows what); 1 it ended at once; 124 it was not ready in time; 20 to 23 as of `submit`.",
  ],
  positionals: [
    { gives: "agent", name: "AGENT", description: "which agent, by its name in `tmuxwire profiles`" },
    { gives: "prompt", name: "PROMPT", description: "its first prompt", optional: true, many: true },
  ],
  tail: "ARGS",
  members: ["name", "program", "cwd", "environment", "resume"],
  tweak: {
    cwd: { value: "DIR", description: "where it runs", default: HERE_OR_HOME, complete: "directory" },
    program: {
      value: "FILE",
      description: "the program, if it is not on PATH under the agent's name",
      complete: "file",
    },
    environment: { name: "env", description: "a variable in addition to the server's" },
    resume: { value: "ID", description: "go on with this conversation of its own" },
  },
  options: [
    { name: "worktree", type: "flag", description: "give it a git worktree with a branch of its own" },
    { name: "branch", type: "text", value: "BRANCH", description: "the worktree's branch (implies --worktree)" },
    { name: "session", type: "text", value: "NAME", description: "in a session of its own with this name" },
    { name: "window", type: "text", value: "SESSION", description: "in a new window of this session" },
    { name: "split", type: "text", value: "PANE", description: "in a part of this pane" },
    { name: "on", type: "text", value: "SERVER", description: "the tmux server", default: "the daemon's own" },
    keyOption("starts nothing"),
    { ...TIMEOUT_OPTION, description: "give up after this long until it is ready", default: "60", max: 600 },
  ],
  examples: [
    { line: `tmuxwire start ${ONE} 'fix the failing test' --name api`, does: "in this directory" },
    { line: `tmuxwire start ${ONE} --worktree 'try it another way'`, does: "on a branch of its own" },
    { line: `tmuxwire start ${ONE} --server main@build`, does: "in your home directory on the host build" },
    { line: `tmuxwire start ${ONE} --program ./another -- --verbose`, does: "another program, with its own arguments" },
  ],
  input: async (call) => {
    const [, ...words] = call.positionals;
    const { options } = call;
    const server = options.text("on") ?? options.text("server");
    const branch = options.text("branch");
    return {
      cwd: startDirectory(call, options.text("cwd"), server ?? OWN_SERVER_NAME),
      prompt: words.length === 0 ? undefined : await readText(call, words),
      args: call.tail.length === 0 ? undefined : call.tail,
      where: whereOf(call),
      server,
      ...(branch === undefined ? {} : { worktree: { branch } }),
      ...(branch === undefined && options.flag("worktree") ? { worktree: true } : {}),
      ...timeoutOf(call),
    };
  },
  show: async ({ io }, { agent, pane, outcome, reason, screen, worktree }) => {
    await io.out(`${agent?.name ?? pane}\n`);
    if (worktree !== null) io.err(`tmuxwire: its worktree is ${printable(worktree)}\n`);
    if (reason !== null) io.err(`tmuxwire: ${outcome}: ${printable(reason)}\n`);
    if (screen !== null) io.err(`${screen.split("\n").map(printable).join("\n")}\n`);
  },
  exitCode: ({ outcome }) => EXIT_CODES[outcome],
});

/** @throws AppError INVALID_ARGUMENT */
function whereOf({ options }: CommandCall): NativeStartAgent["where"] {
  const [session, window, pane] = ["session", "window", "split"].map((name) => options.text(name));
  const given = [session, window, pane].filter((place) => place !== undefined);
  if (given.length > 1) throw usageError("give only one of --session, --window and --split");
  if (session !== undefined) return { kind: "session", name: session };
  if (window !== undefined) return { kind: "window", session: window };
  return pane === undefined ? undefined : { kind: "split", pane };
}

export const resumeCommand = operationCommand<NativeResumedAgents>({
  operation: "resumeAgents",
  name: "resume",
  details: [
    "After a crash, a reboot or `kill-server`: sessions and windows come back with their names and layout, and each agent " +
      "continues its own conversation. Without NAME and --all it only says what would be done; so does --all without --yes. " +
      "An agent that runs is not started again.",
    "Exit codes: 0 all of them are back, or this was the plan; 1 some are not.",
  ],
  positionals: [
    { gives: "agents", name: "NAME", description: "the names of agents that ran", optional: true, many: true },
  ],
  members: ["server"],
  tweak: { server: { name: "on" } },
  options: [
    { name: "all", type: "flag", description: "all that ran when their server ended" },
    { name: "yes", short: "y", type: "flag", description: "with --all: do it" },
  ],
  examples: [
    { line: "tmuxwire resume", does: "what there is" },
    { line: "tmuxwire resume api", does: "one of them" },
    { line: "tmuxwire resume --all --yes", does: "all of them" },
  ],
  input: ({ options, positionals }) => {
    const all = options.flag("all");
    if (all && positionals.length > 0) throw usageError("give either NAME or --all");
    if (positionals.length > 0) return { agents: positionals };
    return { agents: undefined, all, plan: !all || !options.flag("yes") };
  },
  show: async ({ io }, { agents }) => {
    const rows = agents.map(({ name, agent, outcome, server, session, cwd, reason }) => [
      name,
      agent,
      outcome,
      `${server} ${session}`,
      cwd ?? "-",
      reason ?? "",
    ]);
    if (agents.length === 0) io.err("tmuxwire: no agent ran when a server ended\n");
    await io.out(table(["NAME", "AGENT", "OUTCOME", "WHERE", "CWD", "REASON"], rows));
    if (agents.some(({ outcome }) => outcome === "planned")) {
      io.err("tmuxwire: this is the plan; run `tmuxwire resume --all --yes`, or `tmuxwire resume NAME`\n");
    }
  },
  exitCode: ({ agents }) => (agents.every(({ outcome }) => IS_WELL.has(outcome)) ? 0 : 1),
});

const IS_WELL: ReadonlySet<string> = new Set(["planned", "running", "resumed"]);

export const worktreesCommand = operationCommand<{ readonly worktrees: readonly NativeWorktree[] }>({
  operation: "listWorktrees",
  name: "worktrees",
  examples: [{ line: "tmuxwire worktrees", does: "each with what is not committed, and what only it has" }],
  show: ({ io }, { worktrees }) =>
    io.out(
      table(
        ["NAME", "BRANCH", "UNCOMMITTED", "UNPUSHED", "AGENTS", "PATH"],
        worktrees.map(({ name, branch, uncommitted, unpushed, agents, path, exists }) => [
          name,
          branch,
          exists ? String(uncommitted) : "-",
          exists ? String(unpushed) : "-",
          agents.length === 0 ? "-" : agents.join(", "),
          exists ? path : `${path} (gone)`,
        ]),
      ),
    ),
});

export const removeWorktreeCommand = operationCommand<{ readonly path: string }>({
  operation: "removeWorktree",
  name: "remove-worktree",
  positionals: [{ gives: "worktree", name: "NAME", description: "its name in `tmuxwire worktrees`, or its path" }],
  examples: [{ line: "tmuxwire remove-worktree shop-agent-api", does: "refused while anything would be lost" }],
  show: ({ io }, { path }) => io.out(`removed ${printable(path)}\n`),
});
