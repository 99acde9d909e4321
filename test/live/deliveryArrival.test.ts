/**
 * Whom a request means is decided when it arrives: an agent that dies while the engine still asks tmux who is there leaves a
 * shell that nobody meant. Each text is a command that would leave a file; each answer of tmux waits until the shell reads.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AppError } from "../../protocol/errors.ts";
import { typeFor } from "../../daemon/delivery/pane/addressee.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { type AgentProgram, agentUnderShell } from "../support/agents/agentPrograms.ts";
import { aroundInput } from "../support/agents/aroundInput.ts";
import {
  agentPid,
  drawn,
  type Engines,
  engines,
  shellHasRun,
  shellReads,
  untilState,
} from "../support/agents/deliveryScene.ts";
import { eventually } from "../support/clock/eventually.ts";
import { profileNamed } from "../support/agents/agentCatalogue.ts";

const CHANGED = { code: "WRONG_STATE", details: expect.objectContaining({ reason: "program_changed" }) as object };
const BASH = ["bash", "--norc", "-i"] as const;
/** The shell that comes after the agent is the process that waited for it. */
const WRAPPED = ["bash", "--norc", "-c", 'read -r line; eval "$line"; exec bash --norc -i'] as const;

/** Whatever tmux is asked about the pane, it answers once `done` has come. */
function answering(server: TmuxServer, done: Promise<void>): TmuxServer {
  const slow: ReadonlySet<string | symbol> = new Set(["capture", "foreground", "describePane"]);
  return new Proxy(server, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const method = value.bind(target) as (...given: unknown[]) => unknown;
      return slow.has(name) ? async (...given: unknown[]) => done.then(() => method(...given)) : method;
    },
  });
}

/** The request arrives, and in the same turn the agent gets the signal; tmux answers once it has had its effect. */
async function signalledOnArrival(
  agent: AgentProgram,
  signal: NodeJS.Signals,
  effect: () => Promise<unknown>,
  request: (server: TmuxServer) => Promise<unknown>,
): Promise<unknown> {
  const pid = await agentPid(agent);
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const done = request(answering(agent.server, answered)).catch((error: unknown) => error);
  process.kill(pid, signal);
  await effect();
  answer();
  return done;
}

const killedOnArrival = (agent: AgentProgram, request: (server: TmuxServer) => Promise<unknown>): Promise<unknown> =>
  signalledOnArrival(agent, "SIGKILL", () => shellReads(agent), request);

async function ranNothing(agent: AgentProgram, canary: string): Promise<void> {
  await shellHasRun(agent, join(agent.socket.directory, "done"));
  expect(existsSync(canary)).toBe(false);
}

describe.each([
  ["a job of a shell", BASH],
  ["below a wrapper that becomes a shell", WRAPPED],
] as const)("an agent that is %s and is killed as the request arrives", (_how, shell) => {
  test.each([
    ["that nobody watches", false, undefined],
    ["that somebody watches", true, undefined],
    ["that nobody watches, with its profile named", false, "claude"],
  ] as const)("a prompt into a pane %s: the shell runs nothing", async (_pane, isWatched, profile) => {
    await using agent = await agentUnderShell("inkPrompt", shell);
    using on = engines();
    await drawn(agent, on, "inkPrompt");
    const canary = join(agent.socket.directory, "canary");
    using unaware = engines();
    const { readiness, delivery } = isWatched ? on : unaware;
    let watched: Disposable | undefined;
    const told = await killedOnArrival(agent, async (server) => {
      if (isWatched) watched = readiness.watch(server, agent.pane);
      return delivery.submit({ server, pane: agent.pane, text: `touch ${canary}`, profile });
    });
    expect(told).toMatchObject(CHANGED);
    await ranNothing(agent, canary);
    watched?.[Symbol.dispose]();
  });

  test.each([
    [
      "an answer",
      ({ delivery }: Engines, server: TmuxServer, { pane }: AgentProgram) =>
        delivery.choose({ server, pane, answer: { kind: "option", index: 0 } }),
    ],
    [
      "what empties the box",
      ({ delivery }: Engines, server: TmuxServer, { pane }: AgentProgram) => delivery.clear(server, pane),
    ],
    [
      "what stops a turn",
      ({ delivery }: Engines, server: TmuxServer, { pane }: AgentProgram) => delivery.interrupt(server, pane),
    ],
    [
      "input that names the program",
      (_on: Engines, server: TmuxServer, { pane }: AgentProgram) =>
        typeFor(server, pane, profileNamed("claude"), [
          { kind: "text", bytes: Buffer.from(": 1") },
          { kind: "keys", keys: ["Enter"] },
        ]),
    ],
    [
      "keys and text",
      ({ delivery }: Engines, server: TmuxServer, { pane }: AgentProgram) =>
        delivery.press({
          server,
          pane,
          steps: [
            { kind: "paste", text: ": 1" },
            { kind: "key", key: "Enter" },
          ],
          gapMs: 0,
        }),
    ],
  ] as const)("%s: the shell gets no key", async (_what, act) => {
    await using agent = await agentUnderShell("dialog", shell);
    using on = engines();
    await drawn(agent, on, "dialog");
    using unaware = engines();
    let typed = 0;
    const told = await killedOnArrival(agent, (server) => {
      const input = server.input.bind(server);
      const counting = new Proxy(server, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (name !== "input") return value;
          return (...given: Parameters<typeof input>) =>
            input(given[0], given[1], {
              ...given[2],
              beforeWrite: () => {
                given[2]?.beforeWrite?.();
                typed += 1;
              },
            });
        },
      });
      return act(unaware, counting, agent);
    });
    expect(told).toMatchObject({ code: "WRONG_STATE" });
    expect(typed).toBe(0);
  });
});

test.each(["handler", "terminal"])(
  "an agent that begins to end, by its %s, as the request arrives gets no text",
  async (endsBy) => {
    await using agent = await agentUnderShell("dialog", BASH, { options: { endsBy, lingerMs: 1_200 } });
    using on = engines();
    await drawn(agent, on, "dialog");
    const { server, pane, channel } = agent;
    const from = server.output(pane).outputSeq;
    const hasBegun = async (): Promise<void> => {
      await channel.next("ending");
      const shows = endsBy === "terminal" ? "\u001b[?2004l" : "";
      await eventually(() => {
        const slice = server.output(pane).read(from);
        return shows === "" || (slice.kind === "bytes" && Buffer.from(slice.bytes).includes(shows));
      });
    };
    const canary = join(agent.socket.directory, "canary");
    const request = { pane, text: `touch ${canary}` };
    const told = await signalledOnArrival(agent, "SIGTERM", hasBegun, (slow) =>
      on.delivery.submit({ ...request, server: slow }),
    );
    expect(told).toMatchObject({ code: "WRONG_STATE" });
    expect((told as AppError).details?.["textWritten"]).toBeUndefined();
    await shellReads(agent);
    expect(agent.socket.tmux("capture-pane", "-p", "-t", pane)).not.toContain(canary);
  },
);

describe("an agent that was killed a moment before the request arrives", () => {
  test.each([
    ["whose pane is watched", true],
    ["whose pane somebody looked at a moment ago", false],
  ])("%s: the prompt is not given to its shell", async (_pane, isWatched) => {
    await using agent = await agentUnderShell("inkPrompt", BASH);
    using on = engines();
    const { server, pane } = agent;
    const watched = on.readiness.watch(server, pane);
    await untilState(watched, "idle");
    expect(watched.current.profile).toBe("claude");
    if (!isWatched) watched[Symbol.dispose]();
    process.kill(await agentPid(agent), "SIGKILL");
    await shellReads(agent);
    if (isWatched) await eventually(() => watched.current.profile === "shell" && watched.current.state === "idle");
    const canary = join(agent.socket.directory, "canary");
    await expect(on.delivery.submit({ server, pane, text: `touch ${canary}` })).rejects.toMatchObject(CHANGED);
    await ranNothing(agent, canary);
    watched[Symbol.dispose]();
  });

  test("a request that names the shell is for the shell", async () => {
    await using agent = await agentUnderShell("inkPrompt", BASH);
    using on = engines();
    const { server, pane } = agent;
    await drawn(agent, on, "inkPrompt");
    process.kill(await agentPid(agent), "SIGKILL");
    await shellReads(agent);
    const path = join(agent.socket.directory, "made");
    const named = { server, pane, profile: "shell", text: `: > ${path}` };
    expect(await on.delivery.submit(named)).toMatchObject({ outcome: "submitted" });
    await eventually(() => existsSync(path));
  });
});

test("input that names a program reaches it, and no other", async () => {
  await using agent = await agentUnderShell("inkPrompt", BASH);
  using on = engines();
  await drawn(agent, on, "inkPrompt");
  const { server, pane, channel } = agent;
  const parts = [
    { kind: "text", bytes: Buffer.from("hello") },
    { kind: "keys", keys: ["C-u"] },
  ] as const;
  await typeFor(server, pane, profileNamed("claude"), parts);
  await channel.next(({ event, text }) => event === "read" && text?.startsWith("hello") === true);
  // Text may hold a line end, which executes it: tmux itself is told for whom it is.
  const conditions: unknown[] = [];
  const line = [{ kind: "text", bytes: Buffer.from("ls\n") }] as const;
  const watched = aroundInput(server, "before", "text", async (options) => void conditions.push(options?.onlyIf));
  await typeFor(watched, pane, profileNamed("claude"), line);
  const { pid, command } = await server.foreground(pane);
  expect(conditions).toEqual([{ pid, command }]);
  process.kill(await agentPid(agent), "SIGKILL");
  await shellReads(agent);
  await expect(typeFor(server, pane, profileNamed("claude"), parts)).rejects.toMatchObject(CHANGED);
  expect(agent.socket.tmux("capture-pane", "-p", "-t", pane).trimEnd().split("\n").at(-1)).not.toContain("hello");
});

test("a shell that was there when the request arrived takes its command without a name", async () => {
  await using agent = await agentUnderShell("inkPrompt", BASH);
  const { server, pane } = agent;
  process.kill(await agentPid(agent), "SIGKILL");
  await shellReads(agent);
  // Nobody of this daemon has seen the agent.
  using on = engines();
  const path = join(agent.socket.directory, "made");
  expect(await on.delivery.submit({ server, pane, text: `: > ${path}` })).toMatchObject({ outcome: "submitted" });
  await eventually(() => existsSync(path));
});
