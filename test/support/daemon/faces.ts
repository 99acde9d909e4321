/**
 * The ways in which an operation is called, each against a daemon of its own on a stub: in process, HTTP by hand, WebSocket,
 * the typed client, the command line. What comes out is compared, and what has reached the server.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createClient, type TmuxwireError } from "../../../adapters/client/client.ts";
import type { AgentMessages } from "../../../adapters/agents/messages/agentMessages.ts";
import type { AgentNotifier } from "../../../adapters/agents/notify/agentNotifier.ts";
import type { NativeAddChannel, NativeChannel } from "../../../protocol/api/native/nativeNotifications.ts";
import type { Message } from "../../../adapters/agents/messages/messageStore.ts";
import type { Timeline } from "../../../adapters/agents/timeline/timeline.ts";
import type { RunningAgent } from "../../../adapters/agents/running/runningAgent.ts";
import type { ResumeRequest } from "../../../adapters/agents/start/agentResume.ts";
import type { StartRequest } from "../../../adapters/agents/start/agentStarts.ts";
import type { AgentWork } from "../../../adapters/agents/start/agentWork.ts";
import type { OperationContext } from "../../../adapters/operations/operation.ts";
import { perform } from "../../../adapters/operations/perform.ts";
import type { Delivery, SubmitResult } from "../../../daemon/delivery/delivery.ts";
import { silentLog } from "../../../bench/silentLog.ts";
import { RecordingRegistry } from "../../../daemon/recordings/recordingRegistry.ts";
import { StubServer } from "../../../daemon/servers/stub/stubServer.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import { expect } from "vitest";
import { OPERATIONS } from "../../../adapters/operations/operationTable.ts";
import { withNames } from "../../../adapters/remote/hostNames.ts";
import { deadHosts, nearFixture } from "./farHost.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { runCommand } from "../../../daemon/shell/runCommand.ts";
import {
  OPERATION_ROUTES,
  type OperationName,
  type OperationNames,
  type OperationRoute,
} from "../../../protocol/api/operationRoutes.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { fakeAgents } from "../agents/fakeAgents.ts";
import { inProcessCli } from "./cliOutput.ts";
import { type NativeFixture, nativeFixture } from "./nativeServer.ts";
import { RawSocket } from "./nativeSocket.ts";

export interface FaceCase {
  readonly names: OperationNames;
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: string;
  /** The same as a command line, without what says where the daemon is. */
  readonly command: readonly string[];
}

/** An output, or the code and message of an error. */
type Outcome = { readonly output: unknown } | { readonly code: string; readonly message: string };

interface Scene {
  readonly api: NativeFixture;
  readonly server: TmuxServer;
  readonly parts: Parts;
}
/** What operations need, whichever way they are called. */
type Parts = Pick<
  Required<OperationContext>,
  "delivery" | "recordings" | "agents" | "agentWork" | "messages" | "timeline" | "remote" | "notifier"
>;
type Face = (scene: Scene, name: OperationName, each: FaceCase) => Promise<Outcome>;

const failed = ({ code, message }: { readonly code: string; readonly message: string }): Outcome => ({ code, message });
const outcomeOf = (answer: object): Outcome =>
  "error" in answer ? failed(answer.error as { code: string; message: string }) : { output: answer };

export const FACES: Readonly<Record<string, Face>> = {
  "in process": async ({ server, parts, api }, name, { names, input, idempotencyKey }) => {
    const context = {
      servers: new Map([["main", server]]),
      waits: api.waits,
      runCommand,
      clock: systemClock,
      measure: async <Result>(_name: string, work: () => Result | Promise<Result>) => work(),
      readiness: undefined,
      ...parts,
      running: new WeakMap(),
      // Made for streams: the tree itself is the server's.
      treeOf: () => ({ id: "epoch:0", state: server.status().state, ...server.layout.tree() }),
    };
    const { signal } = new AbortController();
    return perform(context, name, { names, input, idempotencyKey, signal }).then(
      (output) => ({ output: JSON.parse(JSON.stringify(output)) as unknown }),
      (error: unknown) => failed(toAppError(error)),
    );
  },
  HTTP: async ({ api }, name, { names, input, idempotencyKey }) => {
    const { method, path }: OperationRoute = OPERATION_ROUTES[name];
    const place = path.replaceAll(/:(\w+)/g, (_match, word: keyof OperationNames) =>
      encodeURIComponent(names[word] ?? ""),
    );
    const query = new URLSearchParams(
      Object.entries(input).map(([key, value]): [string, string] => [key, String(value)]),
    ).toString();
    const { json } = await api.call(
      method,
      method === "GET" && query !== "" ? `${place}?${query}` : place,
      method === "POST" ? input : undefined,
      idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
    );
    return outcomeOf(json);
  },
  WebSocket: async ({ api }, operation, { names, input, idempotencyKey }) => {
    await using socket = await RawSocket.open(api.port);
    socket.send({ type: "call", id: 1, operation, ...names, input, idempotencyKey });
    const answer = await socket.next();
    return answer["type"] === "result"
      ? { output: answer["output"] }
      : failed({ code: String(answer["code"]), message: String(answer["message"]) });
  },
  client: async ({ api }, name, { names, input, idempotencyKey }) =>
    createClient({ url: api.url })
      .server("main")
      .perform(name, names, input, { idempotencyKey })
      .then(
        (output) => ({ output }),
        (error: unknown) => failed(error as TmuxwireError),
      ),
  // HTTP through one: the project `host`.
  "another host over a WebSocket": async (scene, name, each) => throughHost(scene, name, each, FACES["WebSocket"]!),
  "command line": async ({ api }, _name, { command }) => {
    const home = mkdtempSync(join(tmpdir(), "tw-face-"));
    try {
      const [name = "", ...rest] = command;
      const where = ["--url", api.url, "--token-file", join(home, "none"), "--json"];
      const { out, err } = await inProcessCli([name, ...where, ...rest], { homeDir: home, env: { HOME: home } });
      if (err !== "") return failed({ code: "stderr", message: err });
      return outcomeOf(JSON.parse(out) as object);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
};

/** The same through a daemon for which this one is on another machine; what names nothing there is asked for here. */
async function throughHost(scene: Scene, name: OperationName, each: FaceCase, face: Face): Promise<Outcome> {
  await using near = await nearFixture(scene.api.port);
  const there = (text: string): string => `${text}@far`;
  const names = Object.fromEntries(
    Object.entries(each.names).map(([key, text]: [string, string]) => [
      key,
      ["pane", "session", "host", "notification"].includes(key) ? text : there(text),
    ]),
  );
  const given = name === "startAgent" ? { server: "main", ...each.input } : each.input;
  const input = withNames(OPERATIONS[name].input, given, there) as FaceCase["input"];
  if (near.remote.find(names, name, input) === undefined) return face(scene, name, each);
  const outcome = await face({ ...scene, api: near }, name, { ...each, names, input });
  if (!("output" in outcome)) return outcome;
  const here = (text: string): string => {
    expect(text).toMatch(/@far$/);
    return text.slice(0, -"@far".length);
  };
  return { output: withNames(OPERATIONS[name].output, outcome.output, here) };
}

/** `run` looks at a screen until its time is over: how often that is depends on the machine. */
function askedOnce(reached: readonly unknown[]): readonly unknown[] {
  const pairs: unknown[] = [];
  for (const call of reached) {
    pairs.push(call);
    const [last, before] = [pairs.slice(-2), pairs.slice(-4, -2)];
    if (before.length === 2 && isDeepStrictEqual(last, before)) pairs.length -= 2;
  }
  return pairs;
}

/** Calls an operation through one face, on a server with one session. */
export async function throughFace(
  face: Face,
  name: OperationName,
  each: FaceCase,
): Promise<{ readonly outcome: Outcome; readonly reached: readonly unknown[] }> {
  const stub = new StubServer({ nowUnixMs: () => 1_795_149_767_000, onListenerError: (error) => expectNone(error) });
  await stub.createSession({ name: "work" });
  const reached: unknown[] = [];
  const server = recorded(stub, reached);
  const delivery = recorded(FAKE_DELIVERY, reached);
  const folder = mkdtempSync(join(tmpdir(), "tw-recordings-"));
  writeFileSync(join(folder, `${KEPT_RECORDING}.cast`), KEPT_CAST);
  const recordings = await RecordingRegistry.open({
    folder,
    clock: systemClock,
    nowUnixMs: () => KEPT_AT_MS,
    log: silentLog,
  });
  const parts = {
    delivery,
    recordings,
    agents: fakeAgents(server),
    agentWork: workOf(server),
    messages: MESSAGES,
    timeline: TIMELINE,
    remote: deadHosts(),
    notifier: NOTIFIER,
  };
  await using api = await nativeFixture(server, parts);
  const outcome = await face({ api, server, parts }, name, each);
  await recordings.close();
  rmSync(folder, { recursive: true, force: true });
  return { outcome: steady(outcome, stub) as Outcome, reached: askedOnce(reached) };
}

export const KEPT_RECORDING = "20261120T064247Z-1f2e3d4c";
const KEPT_AT_MS = 1_795_149_767_000;
const KEPT_CAST = `{"version":2,"width":80,"height":24,"timestamp":${KEPT_AT_MS / 1_000},"tmuxwire":{"server":"main","pane":"%9"}}\n`;

function expectNone(error: unknown): never {
  throw error;
}

const RESULT: SubmitResult = {
  outcome: "submitted",
  position: { epoch: "fake", outputSeq: 7 },
  latencyMs: 3,
  firstByteMs: 1,
  enterMs: 2,
  enterPresses: 1,
};
const FAKE_DELIVERY = {
  submit: async () => RESULT,
  choose: async () => RESULT,
  interrupt: async () => undefined,
  clear: async () => undefined,
} as unknown as Delivery;

/** Says what it was asked in its results: nothing is started. */
function workOf(server: TmuxServer): AgentWork {
  const worktree = { name: "shop-a", path: "/w/a", repository: "/shop", branch: "a", isOwnBranch: true, madeUnixMs: 1 };
  const state = { exists: true, uncommitted: 1, unpushed: 0, underWay: undefined, agents: ["api"] };
  return {
    starts: {
      start: async (request: StartRequest) => ({
        agentId: "agent-3f9c21ab04de",
        pane: server.panes()[0]!.id,
        outcome: "refused",
        reason: JSON.stringify({ ...request, server: undefined }),
        repeated: false,
      }),
    },
    worktrees: {
      list: async () => [{ ...worktree, ...state }],
      remove: async (name: string) => {
        if (name === worktree.name) return worktree;
        throw new AppError("WRONG_STATE", `${name} is kept`);
      },
    },
    resume: {
      resume: async (_servers: unknown, { names, isPlan }: ResumeRequest) => [
        {
          agent: { id: "1", name: [...(names ?? ["all"])].join(), kind: "some" },
          place: { server: "main", session: "work" },
          outcome: isPlan ? "planned" : "resumed",
        },
      ],
    },
  } as unknown as AgentWork;
}

const MESSAGE: Message = {
  number: 1,
  id: "msg-0a1b2c3d4e5f607182",
  agent: "agent-3f9c21ab04de",
  agentName: "api",
  process: { pid: 4_242, start: "1", executable: undefined },
  text: "now run the tests",
  when: "idle",
  key: undefined,
  request: "",
  createdUnixMs: KEPT_AT_MS,
  expiresUnixMs: KEPT_AT_MS + 1_000,
  outcome: "waiting",
  reason: "the agent is busy",
  attempt: 1,
  typedUnixMs: undefined,
  enteredUnixMs: undefined,
  wasShown: false,
  deliveredUnixMs: undefined,
  confirmedBy: undefined,
  doneUnixMs: undefined,
  lastWords: undefined,
};

/** Keeps one message: what becomes of messages is tested elsewhere. */
const MESSAGES = {
  tell: (_agent: RunningAgent, told: Partial<Message>, key: string | undefined) => ({
    ...MESSAGE,
    text: told.text,
    when: told.when,
    ...(key === undefined ? {} : { reason: `told under ${key}` }),
  }),
  settled: async (message: Message) => ({
    ...message,
    outcome: "delivered",
    confirmedBy: "screen",
    doneUnixMs: KEPT_AT_MS,
  }),
  find: () => MESSAGE,
  list: (agent?: RunningAgent) => (agent === undefined ? [MESSAGE, MESSAGE] : [MESSAGE]),
  cancel: (id: string) => {
    if (id === MESSAGE.id) return { ...MESSAGE, outcome: "cancelled" };
    throw new AppError("NOT_FOUND", `there is no message ${id}`);
  },
  reached: async (_agent: RunningAgent, { for: [first] }: { readonly for: readonly string[] }) => first,
  lastWords: async () => "done",
  waitingFor: () => [MESSAGE],
  hold: () => () => undefined,
} as unknown as AgentMessages;

/** Says what it was asked in an entry. */
const TIMELINE = {
  ending: () => () => undefined,
  find: async ({ agent, server, ...filter }: Parameters<Timeline["find"]>[0]) => {
    if (agent === "other") throw new AppError("NOT_FOUND", "there is no agent");
    const about = { agent: MESSAGE.agent, name: agent ?? "all", server: server ?? "main", kind: "done" };
    return {
      entries: [{ ...about, number: 41, unixMs: KEPT_AT_MS, text: JSON.stringify(filter), mark: "never shown" }],
      next: 41,
      dropped: { entries: 3, untilUnixMs: KEPT_AT_MS },
    };
  },
} as unknown as Timeline;

const CHANNEL = {
  name: "phone",
  kind: "ntfy",
  url: "https://ntfy.sh/...",
  on: ["asking"],
  answers: false,
  text: false,
  quiet: null,
  waiting: 1,
  lost: 0,
  sentUnixMs: KEPT_AT_MS,
  failingSinceUnixMs: null,
  why: null,
} as const;

/** Keeps one channel: what is sent is tested elsewhere. */
const NOTIFIER = {
  list: () => [CHANNEL],
  add: ({ name = "new", kind, on = [], text = false, quiet, token }: NativeAddChannel) =>
    ({ ...CHANNEL, name, kind, on, text, quiet: quiet ?? null, why: token ?? null }) satisfies NativeChannel,
  remove: (name: string) => requireChannel(name),
  test: async (name: string) => requireChannel(name),
} as unknown as AgentNotifier;

function requireChannel(name: string): void {
  if (name !== CHANNEL.name) throw new AppError("NOT_FOUND", `there is no channel ${name}`);
}

const RECORDED = new Set(["createSession", "killSession", "input", "capture", "snapshot", "resize", "run", "submit"]);
for (const name of ["choose", "interrupt", "clear", "describePane"]) RECORDED.add(name);

/** Calls of what changes or asks, with what was given that can be compared. */
function recorded<Thing extends object>(thing: Thing, calls: unknown[]): Thing {
  return new Proxy(thing, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "layout") return recorded(value as object, calls);
      if (typeof value !== "function") return value;
      const method = value as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        if (RECORDED.has(String(name))) calls.push([name, ...given.map(comparable)]);
        return method.apply(target, given);
      };
    },
  });
}

const isMadeUp = (key: unknown): boolean => /^[\da-f-]{36}$/.test(String(key));

const comparable = (given: unknown): unknown =>
  JSON.parse(
    JSON.stringify(given ?? null, (name, value: unknown) =>
      name === "signal" || name === "server" || (name === "idempotencyKey" && isMadeUp(value)) ? undefined : value,
    ),
  );

/** Without what is another each time: epochs, times, ids of events, names that are made up. */
function steady(outcome: Outcome, stub: StubServer): unknown {
  const text = JSON.stringify(outcome)
    .replaceAll(stub.status().epoch, "EPOCH")
    // A call to another machine gets a key, so that it can be repeated.
    .replaceAll(/,?\\?"idempotencyKey\\?":\\?"[\da-f-]{36}\\?"/g, "")
    .replaceAll(/"elapsedMs":[\d.]+/g, '"elapsedMs":0')
    .replaceAll(/"durationMs":[\d.]+/g, '"durationMs":0')
    .replaceAll(/"path":"[^"]*"/g, '"path":"PATH"')
    .replaceAll(/"\d{8}T\d{6}Z-(?!1f2e3d4c)\w{8}"/g, '"RECORDING"')
    .replace(/"id":"\w+:\d+"/, '"id":"EVENT"');
  return JSON.parse(text) as unknown;
}
