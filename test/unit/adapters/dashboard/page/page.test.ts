/** The page without its document: listings, events, answers. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { AgentCard } from "../../../../../adapters/dashboard/page/model/agentCard.ts";
import { neighbour, SETTLE_MS, target } from "../../../../../adapters/dashboard/page/model/pageState.ts";
import type { Api, Answered } from "../../../../../adapters/dashboard/page/net/api.ts";
import { Refused } from "../../../../../adapters/pages/askServer.ts";
import type { DashboardScreens } from "../../../../../protocol/api/dashboard.ts";
import { Page, SEARCH_PAUSE_MS } from "../../../../../adapters/dashboard/page/page.ts";
import { card, listCard, permissionCard, running, textCard } from "../../../../support/daemon/dashboardCards.ts";
import type { FakeCard } from "../../../../support/daemon/dashboardFake.ts";
import { HOST_DIALOG, hostAgent, hostAgents, hostEntry } from "../../../../support/daemon/hostCards.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const NONE_FOUND: DashboardScreens = { found: [], elsewhere: [], unread: 0, unreachable: [] };

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A page, and a server in which everything is said by the test. */
class Scene {
  readonly clock = new FakeClock();
  /** The clock stands still meanwhile. */
  sleptMs = 0;
  readonly asking: number[] = [];
  readonly responds: { body: unknown; key: string }[] = [];
  listings = 0;
  cards: readonly FakeCard[] = [];
  /** Holds listings back until `list` is called. */
  heldListings: (() => void)[] | undefined;
  serverUnixMs: number | undefined;
  waiting: object | undefined;
  answer: () => Promise<Answered> = () =>
    Promise.resolve({ body: { delivery: "submitted", latency_ms: 5 }, serverUnixMs: 0 });
  readonly operations: object[] = [];
  operated: () => Promise<Answered> = () =>
    Promise.resolve({ body: { outcome: "waiting", reason: null }, serverUnixMs: 0 });
  refusal: Refused | undefined;
  readonly searches: string[] = [];
  searched: (text: string) => Promise<DashboardScreens> = () => Promise.resolve(NONE_FOUND);
  readonly tokens: string[] = [];
  drawn = 0;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #keys = 0;

  readonly page = new Page({
    clock: this.clock,
    nowUnixMs: () => 1_000_000 + this.clock.nowMs() + this.sleptMs,
    random: () => 1,
    newKey: () => `key-${++this.#keys}`,
    onChange: () => void (this.drawn += 1),
    onAsking: (asks: AgentCard) => this.asking.push(asks.agent_id),
    api: {
      giveToken: async (token) => {
        this.tokens.push(token);
        if (this.refusal !== undefined) throw this.refusal;
      },
      agents: async () => {
        this.listings++;
        if (this.refusal !== undefined) throw this.refusal;
        const body = { agents: [...this.cards], server: "default", waiting: this.waiting };
        if (this.heldListings !== undefined) await new Promise<void>((resolve) => this.heldListings?.push(resolve));
        return { body, serverUnixMs: this.serverUnixMs };
      },
      respond: (_agentId, body, key) => {
        this.responds.push({ body, key });
        return this.answer();
      },
      events: async (_lastEventId, signal) => {
        signal.addEventListener("abort", () => this.#fail(signal.reason));
        return new Response(new ReadableStream({ start: (stream) => void (this.#stream = stream) }));
      },
      screens: (text, signal) => {
        this.searches.push(text);
        return Promise.race([this.searched(text), abortOf(signal)]);
      },
      turns: () => Promise.reject(new Error("nobody reads")),
      operate: (method, path, body, key, signal) => {
        this.operations.push({ asked: `${method} ${path}`, body, key });
        return Promise.race([this.operated(), abortOf(signal)]);
      },
      type: () => Promise.reject(new Error("nobody types")),
      pane: () => Promise.reject(new Error("nobody looks")),
      templates: () => Promise.reject(new Error("nobody looks")),
      saveTemplate: () => Promise.reject(new Error("nobody writes")),
      removeTemplate: () => Promise.reject(new Error("nobody writes")),
      pushKey: () => Promise.reject(new Error("nobody subscribes")),
      push: () => Promise.reject(new Error("nobody subscribes")),
      timeline: () => Promise.reject(new Error("nobody asks")),
      recordings: () => Promise.reject(new Error("nobody asks")),
      recordingText: () => Promise.reject(new Error("nobody plays")),
    } satisfies Api,
  });

  async start(...cards: FakeCard[]): Promise<Page> {
    this.cards = cards;
    onTestFinished(() => this.page.close());
    this.page.start();
    await settled();
    return this.page;
  }

  async event(name: string, data: unknown): Promise<void> {
    this.#stream?.enqueue(new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
    await settled();
  }

  async cut(): Promise<void> {
    this.#fail(new TypeError("cut"));
    await settled();
  }

  #fail(reason: unknown): void {
    try {
      this.#stream?.error(reason);
    } catch {
      // It had already ended.
    }
  }
}

describe("what it knows", () => {
  test("comes from the listing and goes on with events", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1), textCard(2));
    expect([...page.state.agents.keys()]).toEqual([1, 2]);
    expect(scene.asking).toEqual([2]);
    await scene.event("card_refresh", permissionCard(1));
    expect(page.state.agents.get(1)?.question?.kind).toBe("select");
    expect(page.state.announcement).toContain("project-1 needs an answer: Bash command");
    await scene.event("card_refresh", permissionCard(1));
    expect(scene.asking).toEqual([2, 1]);
    expect(scene.listings).toBe(1);
    page.close();
    await settled();
    expect(scene.clock.pendingTimers).toBe(0);
  });

  test("what an event tells that is on the page already is not drawn again", async () => {
    const scene = new Scene();
    await scene.start(card(1));
    const before = scene.drawn;
    await scene.event("card_refresh", permissionCard(1));
    await scene.event("state_changed", { agent_id: 1, new_state: "AWAITING_INPUT" });
    await scene.event("turn_created", { agent_id: 1, text: "Bash command" });
    expect(scene.drawn - before).toBe(1);
    await scene.event("state_changed", { agent_id: 1, new_state: "PROCESSING" });
    expect(scene.drawn - before).toBe(2);
  });

  test("an event that comes while the listing is under way is not lost to an older listing", async () => {
    const scene = new Scene();
    scene.heldListings = [];
    const page = await scene.start(textCard(1));
    await scene.event("card_refresh", card(1, { state: "PROCESSING" }));
    for (const list of scene.heldListings) list();
    await settled();
    expect(page.state.agents.get(1)?.state).toBe("PROCESSING");
  });

  test("a gap, a stranger and a new connection ask for the listing again", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1));
    await scene.event("gap", {});
    expect(scene.listings).toBe(2);
    scene.cards = [card(1), card(2)];
    await scene.event("session_created", { agent_id: 2 });
    expect(scene.listings).toBe(3);
    expect(page.state.agents.has(2)).toBe(true);
    await scene.cut();
    expect(page.state.link.kind).toBe("lost");
    scene.cards = [card(2)];
    scene.clock.advanceMs(1_000);
    await settled();
    expect(page.state.link.kind).toBe("live");
    expect([...page.state.agents.keys()]).toEqual([2]);
  });

  test("a machine that wakes from a long sleep is told anew within seconds", async () => {
    const scene = new Scene();
    const page = await scene.start(textCard(1));
    scene.cards = [textCard(1), textCard(2)];
    scene.sleptMs = 3_600_000;
    scene.clock.advanceMs(1_000);
    await settled();
    expect(page.state.link.kind).toBe("lost");
    scene.clock.advanceMs(1_000);
    await settled();
    expect([page.state.link.kind, page.state.agents.size]).toEqual(["live", 2]);
  });

  test("a listing that fails is said, and asked for again", async () => {
    const scene = new Scene();
    scene.refusal = new Refused("the database is busy", 503, "unavailable");
    const page = await scene.start(card(1));
    expect(page.state).toMatchObject({ problem: "the database is busy", loaded: false, tokenWanted: false });
    scene.refusal = undefined;
    scene.clock.advanceMs(2_000);
    await settled();
    expect(page.state).toMatchObject({ problem: undefined, loaded: true });
  });

  test("a token that is wanted is asked for", async () => {
    const scene = new Scene();
    scene.refusal = new Refused("Unauthorized.", 401, "unauthorized");
    const page = await scene.start();
    expect(page.state.tokenWanted).toBe(true);
    expect(await page.giveToken("wrong")).toBe("Unauthorized.");
    expect([page.state.tokenWanted, scene.listings]).toEqual([true, 1]);
    scene.refusal = undefined;
    expect(await page.giveToken("right")).toBeUndefined();
    await settled();
    expect(scene.tokens).toEqual(["wrong", "right"]);
    expect(page.state).toMatchObject({ tokenWanted: false, loaded: true });
  });

  test("ages are counted on the server's clock when the two differ", async () => {
    const scene = new Scene();
    scene.serverUnixMs = 1_060_000;
    const page = await scene.start(card(1));
    expect(page.state.nowUnixMs).toBe(1_060_000);
    scene.clock.advanceMs(1_000);
    expect(page.state.nowUnixMs).toBe(1_061_000);
  });
});

describe("an answer", () => {
  test("is sent once with a key of its own, and its draft goes when it is delivered", async () => {
    const scene = new Scene();
    const page = await scene.start(textCard(1));
    page.draft(1, "yes");
    const first = page.answer(1, { kind: "text", text: "yes" });
    expect(page.state.answers.get(1)).toEqual({ kind: "sending", tries: 1 });
    await page.answer(1, { kind: "text", text: "yes" });
    await first;
    expect(scene.responds).toEqual([{ body: { mode: "text", text: "yes" }, key: "key-1" }]);
    expect(page.state.answers.get(1)).toEqual({ kind: "delivered", words: "submitted · 5 ms", isSure: true });
    expect(page.state.drafts.has(1)).toBe(false);
  });

  test("that failed keeps its draft and says why; the next has another key", async () => {
    const scene = new Scene();
    scene.answer = () => Promise.reject(new Refused("It works.", 409, "wrong_state"));
    const page = await scene.start(textCard(1));
    page.draft(1, "yes");
    await page.answer(1, { kind: "text", text: "yes" });
    expect(page.state.answers.get(1)).toEqual({ kind: "failed", words: "nothing was sent — It works." });
    expect(page.state.drafts.get(1)).toBe("yes");
    await page.answer(1, { kind: "text", text: "yes" });
    expect(scene.responds.map(({ key }) => key)).toEqual(["key-1", "key-2"]);
  });

  test("to a question that has just taken another's place is not one", async () => {
    const scene = new Scene();
    const page = await scene.start(permissionCard(1, { dialogId: "a" }));
    // Between two ticks of the ages.
    scene.clock.advanceMs(900);
    await scene.event("card_refresh", permissionCard(1, { dialogId: "b" }));
    await page.answer(1, { kind: "keys", keys: ["1"] });
    expect(scene.responds).toEqual([]);
    expect(page.state.answers.get(1)).toMatchObject({ kind: "failed" });
    scene.clock.advanceMs(SETTLE_MS);
    await page.answer(1, { kind: "keys", keys: ["1"] });
    expect(scene.responds).toHaveLength(1);
  });

  test("to a question that the listing has in another's place is not one", async () => {
    const scene = new Scene();
    const page = await scene.start(permissionCard(1, { dialogId: "a" }));
    // Between two ticks of the ages; a machine that has slept has had none for hours.
    scene.clock.advanceMs(900);
    scene.cards = [permissionCard(1, { dialogId: "b" })];
    await scene.event("gap", {});
    await page.answer(1, { kind: "keys", keys: ["1"] });
    expect(scene.responds).toEqual([]);
  });

  test("to a question that has come right after one that was answered elsewhere is not one", async () => {
    const scene = new Scene();
    const page = await scene.start(permissionCard(1, { dialogId: "a" }));
    await scene.event("card_refresh", card(1, { state: "PROCESSING" }));
    // Its interruption is none of either.
    await page.answer(1, { kind: "keys", keys: ["Escape"] });
    expect(scene.responds).toHaveLength(1);
    scene.clock.advanceMs(600);
    await scene.event("state_changed", { agent_id: 1, new_state: "AWAITING_INPUT" });
    await scene.event("card_refresh", permissionCard(1, { dialogId: "b" }));
    scene.clock.advanceMs(SETTLE_MS - 1);
    await page.answer(1, { kind: "keys", keys: ["1"] });
    expect(scene.responds).toHaveLength(1);
    scene.clock.advanceMs(1);
    await page.answer(1, { kind: "keys", keys: ["1"] });
    expect(scene.responds).toHaveLength(2);
  });

  test("to a question that was only out of sight is one", async () => {
    const scene = new Scene();
    const page = await scene.start(permissionCard(1));
    await scene.event("commander_availability", { agent_id: 1, available: false });
    await scene.event("commander_availability", { agent_id: 1, available: true });
    await page.answer(1, { kind: "keys", keys: ["1"] });
    expect(scene.responds).toHaveLength(1);
  });

  test("to a question of which only more has become known is one", async () => {
    const scene = new Scene();
    const { question, ...rest } = permissionCard(1);
    const known = { ...(question as object), options: [], dialog_id: null };
    const page = await scene.start({ ...rest, question: known });
    await scene.event("card_refresh", { ...rest, question });
    await page.answer(1, { kind: "keys", keys: ["1"] });
    expect(scene.responds).toHaveLength(1);
  });

  test("to a question that has just begun is one, and its outcome stays until the next question", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1));
    await scene.event("card_refresh", listCard(1));
    await page.answer(1, { kind: "keys", keys: ["Enter"] });
    await scene.event("card_refresh", card(1, { state: "PROCESSING" }));
    expect(page.state.answers.get(1)?.kind).toBe("delivered");
    await scene.event("card_refresh", permissionCard(1));
    expect(page.state.answers.has(1)).toBe(false);
  });
});

describe("an agent on another machine", () => {
  async function withFar(fields: Parameters<typeof hostAgent>[1]) {
    const scene = new Scene();
    const page = await scene.start();
    await scene.event("hosts", { type: "hosts", hosts: [hostEntry("build")] });
    await scene.event("host_agents", hostAgents(hostAgent("agent-0123456789ab", fields)));
    const [id] = [...page.state.agents.keys()];
    return { scene, page, id: id! };
  }

  test("whose question has no options that were read is sent no words, which would be an Escape", async () => {
    const { scene, page, id } = await withFar({ state: "asking", question: { ...HOST_DIALOG, options: [] } });
    page.draft(id, "yes");
    await page.answer(id, { kind: "text", text: "yes" });
    expect(scene.operations).toEqual([]);
    expect(page.state.answers.get(id)).toMatchObject({
      kind: "failed",
      words: expect.stringMatching(/^nothing was sent/) as string,
    });
    expect(page.state.drafts.get(id)).toBe("yes");
  });

  test("is interrupted once, also where it is not known whether it was", async () => {
    const { scene, page, id } = await withFar({ state: "busy" });
    scene.operated = () => Promise.reject(new Refused("the connection was lost", 503, "DAEMON_UNREACHABLE"));
    void page.answer(id, { kind: "keys", keys: ["Escape"] });
    for (let waits = 0; waits < 4; waits += 1) {
      // oxlint-disable-next-line no-await-in-loop -- time goes on between two tries
      await settled();
      scene.clock.advanceMs(2_000);
    }
    expect(scene.operations).toHaveLength(1);
    expect(page.state.answers.get(id)?.kind).toBe("failed");
  });
});

describe("selection", () => {
  test("moves in the order that is shown and stays at the ends", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1), textCard(2, { agoMs: 1_000 }), textCard(3, { agoMs: 9_000 }));
    expect(neighbour(page.state, 1)).toBe(3);
    for (const [selectedId, next, previous] of [
      [3, 2, 3],
      [2, 1, 3],
      [1, 1, 2],
    ] as const) {
      page.update({ selectedId });
      expect([neighbour(page.state, 1), neighbour(page.state, -1)]).toEqual([next, previous]);
    }
  });

  test("without one, a key is meant for the only one that asks, never for one of several", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1), textCard(2));
    expect(target(page.state)?.agent_id).toBe(2);
    await scene.event("card_refresh", textCard(1));
    expect(target(page.state)).toBeUndefined();
    page.update({ selectedId: 1 });
    await scene.event("session_ended", { agent_id: 1 });
    expect(page.state.selectedId).toBeUndefined();
  });
});

test("that the daemon waits until tmux is calm is known from the listing and from events, until it is over", async () => {
  const scene = new Scene();
  scene.waiting = { for: "calm", since_unix_ms: 900_000 };
  const page = await scene.start(textCard(1));
  expect(page.state.waitingSinceUnixMs).toBe(900_000);
  await scene.event("server_waiting", { waiting: null });
  expect(page.state.waitingSinceUnixMs).toBeUndefined();
  await scene.event("server_waiting", { waiting: { for: "calm", since_unix_ms: 950_000 } });
  expect(page.state.waitingSinceUnixMs).toBe(950_000);
});

describe("prompts", () => {
  const waiting = { id: "msg-1", text: "then the docs", outcome: "waiting", reason: null, created_unix_ms: 0 };
  const refused = (message: string) => () => Promise.reject(new Refused(message, 409, "WRONG_STATE"));

  test("are sent with a key, and what is written goes only when they are kept", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1, { running: running() }), card(2));
    page.actions.write(1, "run the tests");
    scene.operated = refused("it has ended");
    await page.actions.tell(1, "idle");
    expect(page.state.answers.get(1)).toEqual({ kind: "failed", words: "the prompt was not taken: it has ended" });
    expect(page.state.prompts.get(1)).toBe("run the tests");
    scene.operated = () => Promise.resolve({ body: { outcome: "waiting", reason: null }, serverUnixMs: 0 });
    await page.actions.tell(1, "now");
    expect(page.state.answers.get(1)).toMatchObject({ kind: "delivered", isSure: true });
    expect(page.state.prompts.get(1)).toBeUndefined();
    const asked = "POST /v1/agents/agent-000000000001/messages";
    expect(scene.operations).toEqual([
      { asked, body: { text: "run the tests", when: "idle" }, key: "key-1" },
      { asked, body: { text: "run the tests", when: "now" }, key: "key-2" },
    ]);
    // Nothing is known of its process.
    page.actions.write(2, "lost?");
    await page.actions.tell(2, "idle");
    expect([scene.operations.length, page.state.prompts.get(2)]).toEqual([2, "lost?"]);
  });

  test("whose connection is cut are sent again under the same key, and said to have failed in the end", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1, { running: running() }));
    page.actions.write(1, "run the tests");
    const aborted = new Promise<never>(() => undefined);
    scene.operated = () => aborted;
    const told = page.actions.tell(1, "idle");
    for (let tries = 1; tries <= 3; tries += 1) {
      await settled();
      expect(page.state.answers.get(1)).toEqual({ kind: "sending", tries });
      // A try, and the pause before the next.
      scene.clock.advanceMs(30_000);
      await settled();
      scene.clock.advanceMs(2_000);
    }
    await told;
    expect(page.state.answers.get(1)).toMatchObject({ kind: "failed" });
    expect(page.state.prompts.get(1)).toBe("run the tests");
    expect(scene.operations).toHaveLength(3);
    expect(new Set(scene.operations.map((one) => (one as { readonly key: string }).key)).size).toBe(1);
  });

  test("that were not delivered are said so", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1, { running: running() }));
    page.actions.write(1, "run the tests");
    scene.operated = () => Promise.resolve({ body: { outcome: "unknown", reason: "it was lost" }, serverUnixMs: 0 });
    await page.actions.tell(1, "now");
    expect(page.state.answers.get(1)).toEqual({
      kind: "failed",
      words: "may have arrived: look at the pane: it was lost",
    });
  });

  test("that wait are taken back, and their whole text can be edited", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1, { running: running({ messages: [waiting] }) }));
    page.actions.write(1, "and last");
    scene.operated = () => Promise.resolve({ body: { text: "then the docs, all of them" }, serverUnixMs: 0 });
    await page.actions.takeBack(1, waiting, false);
    expect(page.state.prompts.get(1)).toBe("and last");
    await page.actions.takeBack(1, waiting, true);
    expect(page.state.prompts.get(1)).toBe("then the docs, all of them\nand last");
    scene.operated = refused("it is being typed");
    await page.actions.takeBack(1, waiting, true);
    expect(page.state.answers.get(1)).toEqual({ kind: "failed", words: "it is being typed" });
    expect(page.state.prompts.get(1)).toBe("then the docs, all of them\nand last");
  });

  test("an agent is started on the dashboard's own tmux server", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1));
    const started = { agent: { name: "api" }, pane: "%9", outcome: "asking", reason: null };
    scene.operated = () => Promise.resolve({ body: started, serverUnixMs: 0 });
    expect(await page.actions.start({ agent: "some", cwd: "/srv" })).toEqual({
      isDone: true,
      words: "api asks something first",
    });
    scene.operated = () =>
      Promise.resolve({ body: { ...started, agent: null, outcome: "ended", reason: "status 127" }, serverUnixMs: 0 });
    expect(await page.actions.start({ agent: "some" })).toEqual({
      isDone: false,
      words: "the program in %9: ended, status 127",
    });
    expect(scene.operations[0]).toEqual({
      asked: "POST /v1/agents",
      body: { agent: "some", cwd: "/srv", server: "default" },
      key: "key-1",
    });
    // On the tmux server of a host's agents, or on the person's own there.
    const told = (host: string) => ({ type: "hosts", hosts: [hostEntry(host), hostEntry("bare")] });
    await scene.event("hosts", told("build"));
    await scene.event("host_agents", hostAgents(hostAgent("a")));
    await page.actions.start({ agent: "some" }, "build");
    await page.actions.start({ agent: "some" }, "bare");
    expect(scene.operations.slice(2)).toMatchObject([
      { body: { agent: "some", server: "main@build" } },
      { body: { agent: "some", server: "default@bare" } },
    ]);
  });

  test("a start whose response is lost is the same start when it is asked for again", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1));
    const keys: unknown[] = [];
    const start = async (agent: string): Promise<void> => {
      await page.actions.start({ agent });
      keys.push((scene.operations.at(-1) as { readonly key: unknown }).key);
    };
    scene.operated = () => Promise.reject(new Refused("unreachable", 0, "unreachable"));
    await start("some");
    await start("some");
    await start("other");
    scene.operated = () => Promise.reject(new Refused("no such directory", 400, "INVALID_ARGUMENT"));
    await start("other");
    await start("other");
    expect(keys).toEqual(["key-1", "key-1", "key-2", "key-2", "key-3"]);
  });
});

describe("the filter", () => {
  test("finds what is on the screens of other machines, and says which screens were not looked at", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1));
    const agent = hostAgent("agent-0123456789ab");
    await scene.event("host_agents", hostAgents(agent));
    const elsewhere = [{ agent: agent.id, row: "a price" }];
    scene.searched = () => Promise.resolve({ ...NONE_FOUND, elsewhere, unread: 2, unreachable: ["away"] });
    page.filter("price");
    scene.clock.advanceMs(SEARCH_PAUSE_MS);
    await settled();
    const far = [...page.state.agents.values()].find((one) => one.far !== undefined)!;
    expect(page.state.listing.screens).toEqual(new Map([[far.agent_id, "a price"]]));
    expect(page.state.listing.unseen).toBe("Not looked at: 2 screens, and the screens of away.");
    page.filter("");
    expect(page.state.listing.unseen).toBe(undefined);
  });

  test("looks at the screens once, when a person has stopped typing, and shows nothing of an older search", async () => {
    const scene = new Scene();
    const page = await scene.start(card(1), card(2));
    const found = (agentId: number, row: string) => ({ ...NONE_FOUND, found: [{ agent_id: agentId, row }] });
    scene.searched = (text) => Promise.resolve(found(2, `${text} here`));
    for (const text of ["p", "pr", "pri", " price "]) {
      page.filter(text);
      scene.clock.advanceMs(SEARCH_PAUSE_MS - 1);
    }
    expect(page.state.listing).toMatchObject({ filter: " price ", screens: undefined });
    scene.clock.advanceMs(1);
    await settled();
    expect(scene.searches).toEqual(["price"]);
    expect(page.state.listing.screens).toEqual(new Map([[2, "price here"]]));
    // Another search is under way: the first of two is given up.
    let answer: (found: DashboardScreens) => void = () => undefined;
    scene.searched = () => new Promise((resolve) => (answer = resolve));
    page.filter("old");
    expect(page.state.listing.screens).toBe(undefined);
    scene.clock.advanceMs(SEARCH_PAUSE_MS);
    const late = answer;
    page.filter("x");
    late(found(1, "old"));
    await settled();
    expect(page.state.listing).toMatchObject({ filter: "x", screens: undefined });
    // One letter is on every screen.
    scene.clock.advanceMs(SEARCH_PAUSE_MS);
    expect(scene.searches).toEqual(["price", "old"]);
    scene.searched = () => Promise.reject(new Refused("too many", 429, "resource_limit"));
    page.filter("new");
    scene.clock.advanceMs(SEARCH_PAUSE_MS);
    await settled();
    expect(page.state.listing).toMatchObject({ filter: "new", screens: undefined });
    page.filter("never");
    page.close();
    await settled();
    expect(scene.clock.pendingTimers).toBe(0);
  });
});

/** As a browser's fetch ends. */
const abortOf = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () => reject(new Refused("the request was cut", 0, "unreachable")));
  });
