/**
 * The hooks of agents other than Claude Code: put into a temporary home by the command line, run in panes of real tmux as
 * their agents run them, with events as the programs wrote them, against a real dashboard; and out again to the byte.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownDirectory } from "../support/daemon/ownDirectory.ts";

let home = "";
beforeEach(() => void (home = ownDirectory()));

const run = promisify(execFile);
const cli = (...words: string[]) =>
  run(process.execPath, [builtCli(), "hooks", ...words], { env: { PATH: process.env["PATH"], HOME: home } });

const SESSION = "0c9e2f1a";
const base = { session_id: SESSION };

const agents = {
  gemini: {
    file: join(".gemini", "settings.json"),
    before: '{\n  // mine\n  "ui": { "hideTips": true } // quiet\n}\n',
    events: [
      ["SessionStart", { ...base, source: "startup" }],
      ["BeforeAgent", { ...base, prompt: "tool touch x1" }],
      [
        "Notification",
        {
          ...base,
          notification_type: "ToolPermission",
          message: "Tool Confirm Shell Command requires execution",
          details: { type: "exec", title: "Confirm Shell Command", command: "touch x1", rootCommand: "touch" },
        },
      ],
    ],
    question: "Tool Confirm Shell Command requires execution: touch x1",
  },
  codex: {
    file: join(".codex", "hooks.json"),
    before: '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"bell","timeout":2}]}]}}',
    events: [
      ["SessionStart", { ...base, source: "startup" }],
      ["UserPromptSubmit", { ...base, turn_id: "t", prompt: "ask touch x1" }],
      ["PermissionRequest", { ...base, tool_name: "Bash", tool_input: { command: "touch x1", description: "why" } }],
    ],
    question: "Bash: touch x1",
  },
  copilot: {
    file: join(".copilot", "hooks", "tmuxwire.json"),
    before: undefined,
    events: [
      ["SessionStart", { ...base, source: "new" }],
      ["UserPromptSubmit", { ...base, prompt: "tool touch x1" }],
      [
        "Notification",
        {
          sessionId: SESSION,
          message: "Run command: touch x1",
          title: "Permission needed",
          notification_type: "permission_prompt",
        },
      ],
    ],
    question: "Run command: touch x1",
  },
} as const;

/** The command that stands in the settings for an event. */
function commandOf(file: string, event: string): string {
  interface Hook {
    readonly command?: string;
    readonly bash?: string;
    readonly hooks?: readonly Hook[];
  }
  const { hooks } = JSON.parse(readFileSync(file, "utf8").replaceAll(/\/\/ \w+/g, "")) as {
    hooks: Record<string, readonly Hook[]>;
  };
  const all = hooks[event]!.flatMap((one) => one.hooks ?? [one]).map((one) => one.command ?? one.bash ?? "");
  return all.find((command) => command.includes("tmuxwire"))!;
}

test.each(Object.entries(agents))(
  "%s: installed, heard from its pane, and out again",
  async (agent, { file: name, before, events, question }) => {
    await using fixture = await guestFixture((socket) => void userSession(socket, "desk"));
    await using real = await dashboardFixture(fixture.server);
    const file = join(home, name);
    if (before !== undefined) {
      mkdirSync(dirname(file));
      writeFileSync(file, before);
    }
    await cli("install", agent, "--dashboard", real.url);
    const installed = readFileSync(file, "utf8");
    await cli("install", agent, "--dashboard", real.url);
    expect(readFileSync(file, "utf8")).toBe(installed);
    expect((await cli("status", agent, "--dashboard", real.url)).stdout).toContain(": installed");
    for (const [index, [event, payload]] of events.entries()) {
      writeFileSync(join(home, `${index}.event`), JSON.stringify({ ...payload, cwd: home }));
      writeFileSync(join(home, `${index}.hook`), commandOf(file, event));
    }
    const script = `read go; for n in 0 1 2; do sh -c "$(cat "$1/$n.hook")" < "$1/$n.event" >> "$1/printed" 2>&1 || echo failed >> "$1/printed"; done; cat`;
    const pane = userSession(fixture.socket, "work", ["sh", "-c", script, "sh", home]);
    // Of a pane that is not listed yet nothing is believed.
    await eventually(() => fixture.server.findSession("work") !== undefined);
    fixture.socket.tmux("send-keys", "-t", pane, "Enter");
    // What becomes of the question when the shell that stands for the agent goes on is not looked at here.
    const said = async (): Promise<string> => JSON.stringify((await real.call("GET", "/api/agents/1/turns")).json);
    await eventually(async () => (await said()).includes(JSON.stringify(question)));
    expect(await said()).toContain(JSON.stringify(events[1][1].prompt));
    const heard = (await real.call("GET", "/api/agents")).json["agents"];
    expect(heard).toEqual([expect.objectContaining({ tmux_pane_id: pane, tmux_session: "work" })]);
    expect(readFileSync(join(home, "printed"), "utf8")).toBe("");
    await cli("uninstall", agent);
    if (before === undefined) expect(existsSync(file)).toBe(false);
    else expect(readFileSync(file, "utf8")).toBe(before);
    expect(existsSync(join(home, ".local"))).toBe(false);
    await expect(cli("status", agent)).rejects.toMatchObject({ code: 3 });
  },
);

test("codex: where there is no terminal, nobody's pane is named", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "desk"));
  await using real = await dashboardFixture(fixture.server);
  const { file, events } = agents.codex;
  await cli("install", "codex", "--dashboard", real.url);
  const command = commandOf(join(home, file), "SessionStart");
  // The shared server has a session of its own, and the environment of the pane that it was started in.
  const [pane, pid] = fixture.socket.tmux("display-message", "-p", "-t", "desk", "#{pane_id} #{pid}").trim().split(" ");
  const env = { PATH: process.env["PATH"], TMUX_PANE: pane, TMUX: `${fixture.socket.socketPath},${pid},0` };
  await eventually(() => fixture.server.findSession("desk") !== undefined);
  const happens = async (): Promise<readonly unknown[]> => {
    const child = spawn("sh", ["-c", 'sh -c "$0"; echo "$?"', command], { env, detached: true });
    let printed = "";
    child.stdout.on("data", (piece: Buffer) => (printed += piece.toString()));
    child.stdin.end(JSON.stringify({ ...events[0][1], cwd: home }) + " ".repeat(200_000));
    await new Promise((resolve) => child.once("close", resolve));
    expect(printed).toBe("0\n");
    return (await real.call("GET", "/api/agents")).json["agents"] as readonly unknown[];
  };
  expect(await happens()).toEqual([]);
  // It is the terminal that makes the difference.
  const script = join(home, ".local/share/tmuxwire/hooks/codex.sh");
  writeFileSync(script, readFileSync(script, "utf8").replace(/^case \$\(ps[^]*?\nesac\n/m, ""));
  expect(await happens()).toEqual([expect.objectContaining({ tmux_pane_id: pane })]);
});
