/**
 * The real pi as the worker, against a model on this machine: readiness by its hook, prompts as the model gets them, tools
 * called by the model. It is installed from the registry on first use; where that cannot be done, nothing is tested.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { daemonFilePath, writeDaemonFile } from "../../adapters/team/daemonFile.ts";
import { configurePi, installPi, PI_VERSION } from "../fixtures/team/realPi.ts";
import { modelServer, type ModelServer } from "../fixtures/team/modelServer.ts";
import { readyHook, type TeamFixture, type TeamFixtureOptions, teamFixture } from "../fixtures/team/teamFixture.ts";
import { eventually } from "../support/eventually.ts";
import { report, spread } from "../support/report.ts";

const THREADS = join(import.meta.dirname, "../fixtures/team/threadsExtension.ts");

const installed = installPi();
const pi = "pi" in installed ? installed.pi : "";
if ("missing" in installed)
  process.stderr.write(`pi ${PI_VERSION} cannot be installed (${installed.missing}): skipped\n`);

async function withPi(options: TeamFixtureOptions = {}): Promise<TeamFixture & { readonly model: ModelServer }> {
  const model = await modelServer();
  const team = await teamFixture({
    ...options,
    worker: { argv: [pi, "-e", readyHook()], ...options.worker },
    prepare: ({ agentDir }) => configurePi(agentDir, model.baseUrl),
    workerEnvironment: { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" },
  });
  return {
    ...team,
    model,
    [Symbol.asyncDispose]: async () => {
      await team[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** pi trims what it submits and makes four spaces of a tab; everything else is the model's to see. */
const literal = [
  `it's "quoted" \`x\` $(id) \${HOME}; #{pid} \\n @file -x`,
  "-leading dash",
  "naïve 漢字 🙂 é",
  "first\nsecond\n\n  fourth",
  "!echo not a shell",
  "/quit",
  "/skill:none and so on",
  "  both ends  ",
  "\n\nlines before and after\n\n",
  "ends with a backslash \\",
  Array.from({ length: 41 }, (_, line) => `line ${line}`).join("\n"),
  `long ${"word ".repeat(400)}end`,
];

describe.runIf(pi !== "")(`pi ${PI_VERSION}`, () => {
  test("20 of 20 starts reach the model exactly once", async () => {
    await using team = await withPi();
    const readyMs: number[] = [];
    for (let at = 1; at <= 20; at += 1) {
      const { json } = await team.start({ taskPrompt: `task ${at}` });
      expect(json).toMatchObject({ sessionName: `worker-${at}`, promptSubmitted: true });
      readyMs.push(Number(json["readyMs"]));
      await eventually(() => team.model.prompts.length >= at);
      team.tmux("respawn-pane", "-k", "-t", `=worker-${at}:`, "true");
      expect(team.model.prompts).toEqual(Array.from({ length: at }, (_, index) => `task ${index + 1}`));
    }
    report("realPi", { starts: 20, submitted: team.model.prompts.length, readyMs: spread(readyMs) });
  });

  test.each(literal)("the model gets the prompt as it was given, in one message: %j", async (taskPrompt) => {
    await using team = await withPi();
    expect((await team.start({ taskPrompt })).json).toMatchObject({ promptSubmitted: true });
    await eventually(() => team.model.prompts.length > 0);
    await eventually(async () => captured(team).then((text) => text.includes("fine")));
    const [got = "", ...more] = team.model.prompts;
    expect(more).toEqual([]);
    expect(got).toBe(taskPrompt.startsWith("/") ? ` ${taskPrompt}` : taskPrompt);
  });

  test("a worker without the hook is told by its screen", async () => {
    await using team = await withPi({ worker: { argv: [pi] } });
    expect((await team.start({ taskPrompt: "no hook" })).json).toMatchObject({ promptSubmitted: true });
    await eventually(() => team.model.prompts.length > 0);
    expect(team.model.prompts).toEqual(["no hook"]);
  });

  test("in pi, beside another extension, the model calls each tool; a worker posts to its thread by itself", async () => {
    const extensions = [readyHook(), THREADS, join(readyHook(), "../piExtension.js")].flatMap((file) => ["-e", file]);
    await using team = await withPi({ worker: { argv: [pi, ...extensions] } });
    team.teamd.leases.set("leader-1", ["."]).set("leader-3", ["."]);
    await writeDaemonFile(daemonFilePath(join(team.home, ".pi/agent/tmux")), {
      url: team.url,
      token: team.token,
      pid: 0,
    });
    const post = { threadId: "thread-0001", message: "hello from the worker" };
    const calls: readonly (readonly [tool: string, input: object, result: RegExp])[] = [
      ["team_tmux_start", { taskPrompt: "as told", threadId: "thread-0001" }, /"sessionName": "worker-1"/],
      ["team_tmux_list", { sessionPrefix: "worker" }, /"name": "worker-1"/],
      ["team_tmux_capture", { sessionName: "worker-1", lines: 50 }, /as told/],
      ["team_tmux_attach", { sessionName: "worker-1" }, /"command": "tmux -S \S+ attach -t worker-1"/],
      ["team_threads_post", post, /posted: 201/],
      ["team_tmux_start", { taskPrompt: "not allowed" }, /active lease required/],
    ];
    for (const [index, [tool, input, result]] of calls.entries()) {
      const taskPrompt = `CALL ${tool} ${JSON.stringify(input)}`;
      const { json } = await team.start({ taskPrompt, sessionPrefix: "leader" });
      expect(json).toMatchObject({ sessionName: `leader-${index + 1}`, promptSubmitted: true });
      await eventually(() => team.model.toolResults.length > index);
      expect(team.model.toolResults[index]).toMatch(result);
    }
    expect(team.model.prompts.filter((prompt) => !prompt.startsWith("CALL "))).toEqual(["as told"]);
    expect(
      team.teamd.threads.get("thread-0001")?.messages.map(({ from, body }) => [from, body.split("\n", 1)[0]]),
    ).toEqual([
      ["leader", "[team_tmux_start] session=leader-1 team=team-test"],
      ["leader-1", "[team_tmux_start] session=worker-1 team=team-test"],
      ["leader-5", "hello from the worker"],
    ]);
  });
});

const captured = async (team: TeamFixture): Promise<string> =>
  String((await team.call("capture", { sessionName: "worker-1" })).json["text"]);
