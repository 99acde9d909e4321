/** The page's parts without a document: the owner's desk, a mirror's, the connection, terminals, a login, a file. */
import { describe, expect, test } from "vitest";
import { FreshellLink, type LinkState } from "../../../../../adapters/freshell/devices/freshellLink.ts";
import { LeaderPage } from "../../../../../adapters/freshell/page/device/leaderPage.ts";
import {
  type DeviceView,
  elect,
  FollowerPage,
  oneAtATime,
} from "../../../../../adapters/freshell/page/device/profilePages.ts";
import { type FileStatus, OpenFile } from "../../../../../adapters/freshell/page/net/openFile.ts";
import {
  FIRST_CONVERSATION,
  withConnection,
  withFrame,
  withSaid,
} from "../../../../../adapters/freshell/page/model/conversation.ts";
import { isLoggedOut, type PageApi, PageLogin } from "../../../../../adapters/freshell/page/net/pageApi.ts";
import { Refused } from "../../../../../adapters/pages/askServer.ts";
import { type TerminalSink, TerminalStreams } from "../../../../../adapters/freshell/page/net/terminalStreams.ts";
import type { OwnerRequest, RpcOutcome } from "../../../../../protocol/api/freshell/rpc.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { DeviceFake } from "../../../../support/freshell/deviceFake.ts";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function desk(
  request: (frame: Readonly<Record<string, unknown>>) => RpcOutcome = () => ({ ok: true, result: {} }),
  createTerminal = (): Promise<string> => Promise.resolve("t".repeat(21)),
) {
  const device = new DeviceFake();
  const asked: Readonly<Record<string, unknown>>[] = [];
  const views: DeviceView[] = [];
  let ids = 0;
  const owner = new LeaderPage({
    deviceId: "desk",
    runtime: device.runtime,
    allow: [],
    notes: [],
    request: (frame) => {
      asked.push(frame);
      return Promise.resolve(request(frame));
    },
    createTerminal,
    labelOf: (id) => `label of ${id}`,
    nowUnixMs: () => 5,
    newId: () => `page-${(ids += 1)}`,
    onAllow: () => undefined,
    onView: (view) => views.push(view),
  });
  const remote = (command: string, args: object, more: object = {}): RpcOutcome =>
    owner.respond({
      type: "layout.rpc.request",
      requestId: "r",
      callerDeviceId: "phone",
      targetDeviceId: "desk",
      command,
      args,
      phase: "apply",
      expectedRevision: device.runtime.workspaceRevision,
      idempotencyKey: `remote-${(ids += 1)}`,
      deadlineMs: 1,
      ...more,
    } as OwnerRequest);
  return { device, owner, asked, views, remote };
}

describe("the leader of a profile's pages", () => {
  test("what another device did is a line with who and what, and can be undone once", async () => {
    const { owner, remote, device } = desk();
    remote("new-tab", { title: "build", picker: true });
    expect(owner.view.lines).toMatchObject([{ who: "label of phone", what: "opened the tab “build”", canUndo: true }]);
    remote("read", {}, { phase: "read" });
    remote("kill-tab", { target: "tab-name:none" });
    expect(owner.view.lines).toHaveLength(1);
    const [line] = owner.view.lines;
    const undo = { kind: "undo", lineId: line?.id ?? "" } as const;
    expect(await owner.perform(undo)).toMatchObject({ ok: true });
    expect([device.layout.tabs, owner.view.lines[0]?.note]).toEqual([[], "undone"]);
    expect(await owner.perform(undo)).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  });

  test("a terminal that the server does not make is told in the server's words", async () => {
    const refusals = [
      new Refused("cwd is not an existing directory", 400, "INVALID_ARGUMENT"),
      new Refused("the server cannot be reached", 0, "unreachable"),
    ];
    const { owner, asked } = desk(undefined, () => Promise.reject(refusals.shift()));
    const start = { kind: "terminal", paneId: "p", options: { cwd: "/none" } } as const;
    expect(await owner.perform(start)).toEqual({
      ok: false,
      error: { code: "INVALID_ARGUMENT", message: "cwd is not an existing directory" },
    });
    expect(await owner.perform(start)).toEqual({
      ok: false,
      error: { code: "INTERNAL_ERROR", message: "the server cannot be reached" },
    });
    expect(asked).toEqual([]);
  });

  test("our own changes are no lines; one that is retried by its key is one line", () => {
    const { owner, remote } = desk();
    remote("new-tab", { picker: true }, { idempotencyKey: "k" });
    remote("new-tab", { picker: true }, { idempotencyKey: "k" });
    expect(owner.view.lines).toHaveLength(1);
    remote("new-tab", { picker: true }, { callerDeviceId: "desk" });
    expect(owner.view.lines).toHaveLength(1);
    for (let count = 0; count < 60; count += 1) remote("new-tab", { picker: true });
    expect(owner.view.lines).toHaveLength(50);
  });

  test("a layout change is done here, what has a process behind it by the server; again after another revision", async () => {
    let tries = 0;
    const { owner, asked, device } = desk(() => {
      tries += 1;
      return tries === 1
        ? { ok: false, error: { code: "REVISION_CONFLICT", message: "m" } }
        : { ok: true, result: { tabId: "t" } };
    });
    expect(await owner.perform({ kind: "command", command: "new-tab", args: { picker: true } })).toMatchObject({
      ok: true,
    });
    expect([asked, device.layout.tabs.length]).toEqual([[], 1]);
    expect(await owner.perform({ kind: "command", command: "new-tab", args: {} })).toMatchObject({ ok: true });
    expect(asked.map(({ command, idempotencyKey }) => [command, idempotencyKey])).toEqual([
      ["new-tab", asked[0]?.["idempotencyKey"]],
      ["new-tab", asked[0]?.["idempotencyKey"]],
    ]);
    expect(await owner.perform({ kind: "command", command: "read", args: {} })).toMatchObject({ ok: false });
    const pane = Object.values(device.layout.activePane)[0] ?? "";
    const session = { kind: "session", paneId: pane, provider: "sdk", sessionId: "s1" } as const;
    expect(await owner.perform(session)).toMatchObject({ ok: true });
    expect(device.layout.panes).toMatchObject([
      { kind: "claude-chat", contentRef: { sessionRef: { sessionId: "s1" } } },
    ]);
    await owner.perform({ kind: "terminal", paneId: pane, options: {} });
    expect(asked.at(-1)).toMatchObject({ command: "attach-terminal", args: { target: `terminal:${"t".repeat(21)}` } });
  });
});

describe("a follower", () => {
  test("gets its answer, or says that nobody answered", async () => {
    const clock = new FakeClock();
    const posted: { askId: string }[] = [];
    let ids = 0;
    const follower = new FollowerPage({
      post: (message) => posted.push(message as { askId: string }),
      clock,
      newId: () => `ask-${(ids += 1)}`,
    });
    const first = follower.perform({ kind: "undo", lineId: "l" });
    const second = follower.perform({ kind: "undo", lineId: "l" });
    follower.settle(posted[0]?.askId ?? "", { ok: true, result: {} });
    follower.settle("unknown", { ok: true, result: {} });
    expect(await first).toEqual({ ok: true, result: {} });
    clock.advanceMs(26_000);
    expect(await second).toMatchObject({ ok: false, error: { code: "OWNER_TIMEOUT" } });
  });

  test("the lock says who owns: first the one that gets it, then the next; without locks everybody tries", async () => {
    const told: string[] = [];
    const queue: (() => unknown)[] = [];
    let isHeld = false;
    const locks = {
      request: (_name: string, given: unknown, maybe?: (lock: unknown) => unknown): Promise<never> => {
        const run = (maybe ?? given) as (lock: unknown) => unknown;
        const result = maybe === undefined ? void queue.push(() => run({})) : run(isHeld ? null : {});
        isHeld = true;
        return Promise.resolve(result) as Promise<never>;
      },
    };
    const page = (name: string) => ({
      onLeader: () => told.push(`${name} leads`),
      onFollower: () => told.push(`${name} follows`),
    });
    elect({ locks, ...page("a") });
    elect({ locks, ...page("b") });
    await tick();
    expect(told).toEqual(["a leads", "b follows"]);
    queue[0]?.();
    elect({ locks: undefined, ...page("c") });
    expect(told.slice(2)).toEqual(["b leads", "c leads"]);
  });
});

class Socket {
  readonly sent: Readonly<Record<string, unknown>>[] = [];
  readonly #heard = new Map<string, (event: never) => void>();
  addEventListener(type: string, heard: (event: never) => void): void {
    this.#heard.set(type, heard);
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text) as Readonly<Record<string, unknown>>);
  }
  close(): void {}
  open(): void {
    this.#heard.get("open")?.(undefined as never);
  }
  frame(message: object): void {
    this.#heard.get("message")?.({ data: JSON.stringify(message) } as never);
  }
  closed(code: number): void {
    this.#heard.get("close")?.({ code } as never);
  }
}

describe("the connection", () => {
  function link(token: (refused?: string) => Promise<string> = () => Promise.resolve("token")) {
    const clock = new FakeClock();
    const sockets: Socket[] = [];
    const states: LinkState["kind"][] = [];
    const refused: (string | undefined)[] = [];
    let ids = 0;
    const made = new FreshellLink({
      open: () => {
        const socket = new Socket();
        sockets.push(socket);
        return socket;
      },
      token: (one) => {
        refused.push(one);
        return token(one);
      },
      isLoggedOut,
      device: { deviceId: "desk" },
      clock,
      random: () => 1,
      newId: () => `id-${(ids += 1)}`,
      onState: ({ kind }) => states.push(kind),
      onReady: () => undefined,
      onMessage: () => undefined,
    });
    made.start();
    return { clock, sockets, states, refused, link: made };
  }
  const ready = { type: "ready", heartbeatIntervalMs: 1 };

  test("hello, ready, requests; a loss fails what was asked, and it comes back", async () => {
    const at = link();
    await tick();
    const [first] = at.sockets;
    first?.open();
    expect(first?.sent[0]).toMatchObject({ type: "hello", token: "token", capabilities: { layoutRpcV1: true } });
    expect(at.link.send({ type: "ping" })).toBe(false);
    first?.frame(ready);
    const [one, two] = [at.link.request({ command: "read" }), at.link.request({ command: "read" })];
    first?.frame({ type: "layout.rpc.result", requestId: "id-1", ok: true, result: { a: 1 } });
    expect(await one).toEqual({ ok: true, result: { a: 1 } });
    first?.closed(1006);
    expect(await two).toMatchObject({ ok: false });
    at.clock.advanceMs(250);
    await tick();
    at.sockets[1]?.open();
    at.sockets[1]?.frame(ready);
    expect(at.states).toEqual(["connecting", "live", "lost", "connecting", "live"]);
    at.sockets[1]?.closed(4011);
    at.clock.advanceMs(60_000);
    await tick();
    expect([at.states.at(-1), at.sockets.length]).toEqual(["superseded", 2]);
  });

  test("that has ended without a word is found out: after a silence, and at once when somebody comes back to the page", async () => {
    const at = link();
    const pings = (): number => at.sockets.at(-1)?.sent.filter(({ type }) => type === "ping").length ?? 0;
    await tick();
    at.sockets[0]?.frame(ready);
    at.clock.advanceMs(14_999);
    at.sockets[0]?.frame({ type: "terminal.output", terminalId: "t", data: "x", outputSeq: 1 });
    at.clock.advanceMs(14_999);
    expect(pings()).toBe(0);
    at.clock.advanceMs(1);
    expect(pings()).toBe(1);
    at.sockets[0]?.frame({ type: "pong", timestamp: "" });
    at.clock.advanceMs(24_999);
    expect([pings(), at.states.at(-1)]).toEqual([2, "live"]);
    at.clock.advanceMs(1);
    expect(at.states.at(-1)).toBe("lost");
    at.clock.advanceMs(250);
    await tick();
    at.sockets[1]?.frame(ready);
    at.link.retryNow();
    at.link.retryNow();
    expect(pings()).toBe(1);
    at.clock.advanceMs(10_000);
    expect(at.states.slice(-3)).toEqual(["connecting", "live", "lost"]);
    at.link.close();
    expect(at.clock.pendingTimers).toBe(0);
  });

  test("a token that is refused is replaced once; a page that is not logged in does not retry", async () => {
    const at = link();
    await tick();
    at.sockets[0]?.closed(4001);
    await tick();
    at.sockets[1]?.closed(4001);
    await tick();
    expect([at.states.at(-1), at.refused, at.sockets.length]).toEqual(["loggedOut", [undefined, "token"], 2]);
    const none = link(() => Promise.reject(new Refused("no", 401, "UNAUTHORIZED")));
    await tick();
    expect([none.states, none.sockets.length]).toEqual([["connecting", "loggedOut"], 0]);
    none.link.retryNow();
    expect(none.states).toHaveLength(3);
  });
});

describe("terminals", () => {
  const sink = (log: string[]): TerminalSink => ({
    attached: (snapshot) => log.push(`attached ${snapshot}`),
    output: (data) => log.push(data),
    exited: (code) => log.push(`exited ${code}`),
    gone: () => log.push("gone"),
    lost: () => log.push("lost"),
    sized: ({ cols, rows }) => log.push(`${cols}x${rows}`),
  });

  test("one attachment for many panes; what has ended is told from what is not there", async () => {
    const [sent, log]: [object[], string[]] = [[], []];
    let status: "exited" | undefined = "exited";
    const streams = new TerminalStreams({
      send: (message) => sent.push(message) > 0,
      find: () => Promise.resolve(status === undefined ? undefined : ({ status, exitCode: 3 } as never)),
      onSized: () => undefined,
    });
    const leave = streams.join("t", sink(log), { cols: 90, rows: 30 });
    const leaveOther = streams.join("t", sink(log), undefined);
    expect(streams.handle({ type: "terminal.attached", terminalId: "t", snapshot: "s", outputSeq: 1 })).toBe(true);
    expect(streams.handle({ type: "terminal.output", terminalId: "u", data: "x", outputSeq: 2 })).toBe(false);
    const refused = {
      type: "error",
      code: "INVALID_TERMINAL_ID",
      message: "m",
      terminalId: "t",
      timestamp: "",
    } as const;
    streams.handle(refused);
    await tick();
    status = undefined;
    streams.handle(refused);
    await tick();
    expect(log).toEqual(["attached s", "attached s", "exited 3", "exited 3", "gone", "gone"]);
    sent.length = 0;
    streams.ready();
    expect(sent).toEqual([
      { type: "terminal.resize", terminalId: "t", cols: 90, rows: 30 },
      { type: "terminal.attach", terminalId: "t" },
    ]);
    streams.sizedElsewhere("t", { cols: 10, rows: 5 });
    sent.length = 0;
    streams.ready();
    expect(sent).toEqual([{ type: "terminal.attach", terminalId: "t" }]);
    leave();
    sent.length = 0;
    leaveOther();
    expect(sent).toEqual([{ type: "terminal.detach", terminalId: "t" }]);
  });
});

describe("a login", () => {
  test("is renewed before it ends, once for all pages, and given up when it is no good", async () => {
    const texts = new Map<string, string>();
    const store = {
      getItem: (key: string) => texts.get(key) ?? null,
      setItem: (key: string, text: string) => void texts.set(key, text),
      removeItem: (key: string) => void texts.delete(key),
    };
    let [nowUnixMs, status, count] = [0, 200, 0];
    const paths: string[] = [];
    const login = new PageLogin({
      store,
      fetch: (path) => {
        paths.push(path);
        count += 1;
        const tokens = { deviceToken: `d${count}`, refreshToken: `r${count}`, expiresAt: nowUnixMs + 900_000 };
        return Promise.resolve(
          Response.json(status === 200 ? tokens : { error: { code: "UNAUTHORIZED", message: "m" } }, { status }),
        );
      },
      device: { deviceId: "desk", deviceLabel: "l" },
      nowUnixMs: () => nowUnixMs,
      alone: (run) => run(),
    });
    await expect(login.token()).rejects.toMatchObject({ status: 401 });
    await login.open("bootstrap");
    expect([await login.token(), [...texts.values()].join("").includes("bootstrap")]).toEqual(["d1", false]);
    nowUnixMs = 850_000;
    expect([await login.token(), await login.token(), paths.at(-1)]).toEqual([
      "d2",
      "d2",
      "/api/device-sessions/refresh",
    ]);
    status = 401;
    await expect(login.token("d2")).rejects.toMatchObject({ status: 401 });
    expect(texts.size).toBe(0);
  });

  test("is renewed once at a time also where a browser has no locks, and a page that comes too late takes the other's", async () => {
    const texts = new Map<string, string>();
    const store = {
      getItem: (key: string) => texts.get(key) ?? null,
      setItem: (key: string, text: string) => void texts.set(key, text),
      removeItem: (key: string) => void texts.delete(key),
    };
    let [nowUnixMs, count] = [0, 0];
    const held: (() => void)[] = [];
    const refused: string[] = [];
    // As the server does: a refresh token works once.
    const fetch = async (_path: string, init?: RequestInit): Promise<Response> => {
      const { refreshToken } = JSON.parse(init?.body as string) as { readonly refreshToken?: string };
      if (refreshToken !== undefined && refreshToken !== `r${count}`) {
        refused.push(refreshToken);
        if (nowUnixMs > 900_000) await new Promise<void>((resolve) => held.push(resolve));
        return Response.json({ error: { code: "UNAUTHORIZED", message: "m" } }, { status: 401 });
      }
      count += 1;
      return Response.json({
        deviceToken: `d${count}`,
        refreshToken: `r${count}`,
        expiresAt: nowUnixMs + 900_000,
      });
    };
    const device = { deviceId: "desk", deviceLabel: "l" };
    const page = (): PageLogin =>
      new PageLogin({ store, fetch, device, nowUnixMs: () => nowUnixMs, alone: oneAtATime(undefined, "login") });
    const [one, other] = [page(), page()];
    await one.open("bootstrap");
    nowUnixMs = 900_000;
    const asked = [one.token(), one.token()];
    expect(await Promise.all(asked)).toEqual(["d2", "d2"]);
    expect(refused).toEqual([]);
    nowUnixMs = 1_800_000;
    const both = [one.token(), other.token()];
    expect(await both[0]).toBe("d3");
    await expect.poll(() => refused).toEqual(["r2"]);
    for (const release of held) release();
    expect(await both[1]).toBe("d3");
    expect(await other.token()).toBe("d3");
  });
});

/** A server with one file. */
const apiOf = (disk: { text: string; etag: string }): Pick<PageApi, "readFile" | "writeFile"> => ({
  readFile: () => Promise.resolve({ path: "/f", mtimeMs: 0, bytes: 0, ...disk }),
  writeFile: (_path, text, etag) => {
    if (etag !== disk.etag) return Promise.reject(new Refused("changed", 409, "REVISION_CONFLICT"));
    [disk.text, disk.etag] = [text, `${disk.etag}+`];
    return Promise.resolve({ path: "/f", mtimeMs: 0, bytes: 0, etag: disk.etag });
  },
});

describe("a file that is edited", () => {
  test("saved, refused when it has changed, written over only when somebody says so", async () => {
    const disk = { text: "one", etag: "e1" };
    const statuses: FileStatus[] = [];
    const texts: string[] = [];
    const file = new OpenFile({
      path: "/f",
      api: apiOf(disk),
      onStatus: (status) => statuses.push(status),
      onText: (text) => texts.push(text),
    });
    await file.read();
    file.changed("mine");
    await file.save("mine");
    expect([disk.text, statuses.at(-1)]).toEqual([
      "mine",
      { kind: "ready", isChanged: false, isNew: false, message: undefined },
    ]);
    [disk.text, disk.etag] = ["theirs", "e9"];
    file.changed("mine again");
    await file.check();
    expect(texts).toEqual(["one"]);
    await file.save("mine again");
    expect([disk.text, statuses.at(-1)?.kind]).toEqual(["theirs", "conflict"]);
    await file.overwrite("mine again");
    expect([disk.text, statuses.at(-1)?.kind]).toEqual(["mine again", "ready"]);
    [disk.text, disk.etag] = ["theirs", "e10"];
    await file.check();
    expect(texts).toEqual(["one", "theirs"]);
  });

  test("what is written while it is being saved is not saved yet, and not replaced", async () => {
    let written: () => void = () => undefined;
    const statuses: FileStatus[] = [];
    const texts: string[] = [];
    const file = new OpenFile({
      path: "/f",
      api: {
        readFile: () => Promise.resolve({ path: "/f", mtimeMs: 0, bytes: 0, text: "one", etag: "e1" }),
        writeFile: () =>
          new Promise((resolve) => (written = () => resolve({ path: "/f", mtimeMs: 0, bytes: 0, etag: "e2" }))),
      },
      onStatus: (status) => statuses.push(status),
      onText: (text) => texts.push(text),
    });
    await file.read();
    file.changed("two");
    const saved = file.save("two");
    file.changed("two and three");
    written();
    await saved;
    expect(statuses.at(-1)).toMatchObject({ kind: "ready", isChanged: true });
    // It has changed elsewhere, too.
    await file.check();
    expect(texts).toEqual(["one"]);
  });

  test("what was written before its pane was shown again is saved over what it was written over, and nothing else", async () => {
    const disk = { text: "one", etag: "e1" };
    const statuses: FileStatus[] = [];
    const open = () =>
      new OpenFile({
        path: "/f",
        api: apiOf(disk),
        onStatus: (status) => statuses.push(status),
        onText: () => undefined,
      });
    const first = open();
    await first.read();
    first.changed("mine");
    const { draft } = first;
    [disk.text, disk.etag] = ["theirs", "e2"];
    const again = open();
    await again.read();
    again.resume(draft);
    expect(statuses.at(-1)).toMatchObject({ kind: "conflict", isChanged: true });
    await again.save("mine");
    expect([disk.text, statuses.at(-1)?.kind]).toEqual(["theirs", "conflict"]);
    await again.overwrite("mine");
    expect([disk.text, statuses.at(-1)]).toMatchObject(["mine", { kind: "ready", isChanged: false }]);
    const third = open();
    await third.read();
    third.resume(draft);
    expect(statuses.at(-1)).toMatchObject({ kind: "ready", isChanged: false });
    third.changed("mine too");
    await third.save("mine too");
    expect(disk.text).toBe("mine too");
  });
});

describe("a conversation", () => {
  test("pieces, messages, questions and the end; nothing of an agent that it has called", () => {
    const sessionId = "s";
    const delta = (text: string) => ({ type: "content_block_delta", delta: { type: "text_delta", text } });
    let now = withFrame(FIRST_CONVERSATION, { type: "sdk.history", sessionId, messages: [] });
    now = withFrame(now, { type: "sdk.stream", sessionId, event: delta("he"), parentToolUseId: null });
    now = withFrame(now, { type: "sdk.stream", sessionId, event: delta("other"), parentToolUseId: "tool" });
    now = withFrame(now, { type: "sdk.stream", sessionId, event: null, parentToolUseId: null });
    expect([now.status, now.partial]).toEqual(["idle", "he"]);
    now = withFrame(now, { type: "sdk.assistant", sessionId, content: [{ type: "text", text: "hello" }] });
    const tool = { name: "Bash", input: {} };
    const asks = { type: "sdk.permission.request", sessionId, requestId: "p", subtype: "can_use_tool", tool } as const;
    now = withFrame(withFrame(now, asks), asks);
    expect([now.partial, now.messages.length, now.permissions.length]).toEqual(["", 1, 1]);
    now = withFrame(now, { type: "sdk.exit", sessionId, exitCode: 137 });
    expect([now.status, now.exitCode, now.permissions]).toEqual(["exited", 137, []]);
  });

  test("what was said on a connection that had ended is given back, unless it has arrived", () => {
    const sessionId = "s";
    const user = (text: string) => ({ role: "user", content: [{ type: "text", text }], timestamp: "" }) as const;
    const history = (...texts: readonly string[]) =>
      ({ type: "sdk.history", sessionId, messages: texts.map(user) }) as const;
    const twice = withSaid(withFrame(FIRST_CONVERSATION, history("yes")), "yes");
    const back = withFrame(withConnection(twice), history("yes"));
    expect([back.unsaid, back.problem]).toEqual(["yes", "The connection was lost: your last message did not arrive."]);
    expect(withFrame(withConnection(twice), history("yes", "yes")).unsaid).toBeUndefined();
    // The agent has begun with it.
    const begun = withFrame(twice, { type: "sdk.status", sessionId, status: "running" });
    expect(withFrame(withConnection(begun), history("yes")).unsaid).toBeUndefined();
    // A history that is on its way already does not have it yet.
    const asked = withSaid(withConnection(FIRST_CONVERSATION), "new");
    expect(withFrame(asked, history("yes")).unsaid).toBeUndefined();
  });
});
