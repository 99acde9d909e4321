/**
 * The real pi as the worker, against a model on this machine: readiness by its hook, prompts as the model gets them, tools
 * called by the model. It is installed from the registry on first use; where that cannot be done, nothing is tested.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { daemonFilePath, writeDaemonFile } from "../../adapters/team/teamd/daemonFile.ts";
import { configurePi, installedPis } from "../fixtures/team/realPi.ts";
import { modelServer, type ModelServer } from "../fixtures/team/modelServer.ts";
import { readyHook, type TeamFixture, type TeamFixtureOptions, teamFixture } from "../fixtures/team/teamFixture.ts";
import { eventually } from "../support/clock/eventually.ts";
import { report, spread } from "../support/daemon/loadReport.ts";

const THREADS = join(import.meta.dirname, "../fixtures/team/threadsExtension.ts");

const installed = installedPis(process.env);
for (const found of installed) if ("missing" in found) process.stderr.write(`no pi (${found.missing}): skipped\n`);
const pis = installed.flatMap((found) => ("pi" in found ? [found] : []));

async function withPi(
  pi: string,
  options: TeamFixtureOptions = {},
): Promise<TeamFixture & { readonly model: ModelServer }> {
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

describe.each(pis)("pi $version", ({ pi, version }) => {
  test("20 of 20 starts reach the model exactly once", async () => {
    await using team = await withPi(pi);
    const readyMs: number[] = [];
    for (let at = 1; at <= 20; at += 1) {
      const { json } = await team.start({ taskPrompt: `task ${at}` });
      expect(json).toMatchObject({ sessionName: `worker-${at}`, promptSubmitted: true });
      readyMs.push(Number(json["readyMs"]));
      await eventually(() => team.model.prompts.length >= at);
      team.tmux("respawn-pane", "-k", "-t", `=worker-${at}:`, "true");
      expect(team.model.prompts).toEqual(Array.from({ length: at }, (_, index) => `task ${index + 1}`));
    }
    report("realPi", { version, starts: 20, submitted: team.model.prompts.length, readyMs: spread(readyMs) });
  });

  test.each(literal)("the model gets the prompt as it was given, in one message: %j", async (taskPrompt) => {
    await using team = await withPi(pi);
    expect((await team.start({ taskPrompt })).json).toMatchObject({ promptSubmitted: true });
    await eventually(() => team.model.prompts.length > 0);
    await eventually(async () => captured(team).then((text) => text.includes("fine")));
    const [got = "", ...more] = team.model.prompts;
    expect(more).toEqual([]);
    expect(got).toBe(taskPrompt.startsWith("/") ? ` ${taskPrompt}` : taskPrompt);
  });

  test("a worker without the hook is told by its screen", async () => {
    await using team = await withPi(pi, { worker: { argv: [pi] } });
    expect((await team.start({ taskPrompt: "no hook" })).json).toMatchObject({ promptSubmitted: true });
    await eventually(() => team.model.prompts.length > 0);
    expect(team.model.prompts).toEqual(["no hook"]);
  });

  test("in pi, beside another extension, the model calls each tool; a worker posts to its thread by itself", async () => {
    const extensions = [readyHook(), THREADS, join(readyHook(), "../piExtension.js")].flatMap((file) => ["-e", file]);
    await using team = await withPi(pi, { worker: { argv: [pi, ...extensions] } });
    team.teamd.leases.set("leader-1", ["."]).set("leader-3", ["."]);
    await writeDaemonFile(daemonFilePath(join(team.home, ".pi/agent/tmux")), {
      url: team.url,
      token: team.token,
      pid: 0,
    });
    // It knows its thread by itself.
    const post = { message: "hello from the worker" };
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
    const thread = (number: number) => team.teamd.threads.get(`thread-000${number}`);
    const said = (number: number) => thread(number)?.messages.map(({ from, body }) => [from, body.split("\n", 1)[0]]);
    expect(said(1)).toEqual([
      ["leader", "[team_tmux_start] session=leader-1 team=team-test"],
      ["leader-1", "[team_tmux_start] session=worker-1 team=team-test"],
    ]);
    expect(thread(5)?.participants).toEqual(["leader", "leader-5"]);
    // Which of the two comes first is nobody's choice.
    expect(said(5)?.sort()).toEqual([
      ["leader", "[team_tmux_start] session=leader-5 team=team-test"],
      ["leader-5", "hello from the worker"],
    ]);
  });

  test("one that ends at once is told of in its own words", async () => {
    await using team = await withPi(pi, { worker: { argv: [pi, "-e", "/nonexistent/extension.js"] } });
    const { json } = await team.start({ lines: 10 });
    expect(json).toMatchObject({ created: true, promptSubmitted: false, outcome: "ended", dead: true, exitStatus: 1 });
    expect(json["reason"]).toMatch(/nonexistent\/extension\.js/);
    expect(team.teamd.threads.get("thread-0001")?.messages).toMatchObject([
      { body: expect.stringMatching(/^\[team_tmux_ended\] session=worker-1 .* exitStatus=1\n/) as unknown },
    ]);
  });

  test("it finds nothing wrong with its terminal", async () => {
    await using team = await withPi(pi);
    await team.start();
    await eventually(async () => captured(team).then((text) => text.includes("fine")));
    expect(await captured(team)).not.toContain("extended-keys");
    team.tmux("set-option", "-s", "extended-keys", "off");
    await team.start();
    // Such a notice does come, where there is something to be noticed.
    const second = async () => String((await team.call("capture", { sessionName: "worker-2" })).json["text"]);
    await eventually(async () => (await second()).includes("extended-keys is off"));
  });
});

const captured = async (team: TeamFixture): Promise<string> =>
  String((await team.call("capture", { sessionName: "worker-1" })).json["text"]);
