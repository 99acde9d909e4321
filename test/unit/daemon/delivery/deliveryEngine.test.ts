/** The engine above a pane that is moved by hand: when Enter is pressed and when it is not, turns, deadlines, leaving. */
import { describe, expect, test } from "vitest";
import { DeliveryEngine, type DeliveryOptions } from "../../../../daemon/delivery/deliveryEngine.ts";
import type { SubmitRequest } from "../../../../daemon/delivery/delivery.ts";
import { MAX_DELIVERIES_WAITING } from "../../../../daemon/delivery/deliveryLimits.ts";
import { EndSigns } from "../../../../daemon/panes/endSigns.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { inFront } from "../../../support/agents/boxPane.ts";
import { FakePane, type Typed } from "../../../support/agents/fakePane.ts";

const RULE = "─".repeat(40);
const prompt = (text: string, above: readonly string[] = []): string[] => [...above, RULE, `❯ ${text}`, RULE];
const DIALOG = ["Bash command", "", "Do you want to proceed?", "❯ 1. Yes", "  2. No, and tell Claude what to do (esc)"];

/** A program with a prompt box that shows what it is given and takes it at Enter. */
function claude(box = ""): FakePane {
  const pane = new FakePane("claude");
  const taken: string[] = [];
  const show = (above: readonly string[] = []): void =>
    pane.draw(prompt(box, above), { col: 2 + box.length, row: 1 + above.length });
  pane.say("\u001b[?2004h");
  show();
  pane.answer = ({ paste, keys }) => {
    if (paste !== undefined) box += paste;
    if (keys?.[0] === "C-u") box = "";
    if (keys?.[0] === "Enter") {
      taken.push(`❯ ${box}`);
      box = "";
      show(taken);
    } else show();
  };
  return pane;
}

const engineOf = ({ readiness, clock }: FakePane, more: Partial<DeliveryOptions> = {}) =>
  new DeliveryEngine({ readiness, clock, nowUnixMs: () => 0, ...more });

function deliver(pane: FakePane, more: Partial<SubmitRequest> = {}) {
  const delivery = engineOf(pane);
  const request = { server: pane.server, pane: pane.pane, text: "fix it", ...more };
  return { delivery, request, work: delivery.submit(request) };
}

const passMs = (pane: FakePane, ms: number): Promise<void> =>
  pane.during(new Promise<void>((resolve) => void pane.clock.callAt(pane.clock.nowMs() + ms, resolve)));

const written = ({ typed }: FakePane): unknown[] => typed.map(({ paste, keys }) => paste ?? keys?.[0]);

const enters = ({ typed }: FakePane): readonly Typed[] => typed.filter(({ keys }) => keys?.[0] === "Enter");

/** Of an agent, since its echo: longer than the gap. */
const QUIET_MS = 48;

describe("Enter", () => {
  test("comes after the gap and quiet, by itself, and once", async () => {
    const pane = claude();
    const result = await pane.during(deliver(pane).work);
    expect(result).toMatchObject({ outcome: "submitted", confirmedBy: "screen", enterPresses: 1 });
    expect(pane.typed.map(({ paste, keys }) => paste ?? keys)).toEqual(["fix it", ["Enter"]]);
    const [paste, enter] = pane.typed;
    expect(enter!.atMs - paste!.atMs).toBeGreaterThanOrEqual(QUIET_MS);
    expect(enter!.atMs - paste!.atMs).toBeLessThan(QUIET_MS + 15);
  });

  test("waits for quiet, but not for ever", async () => {
    const pane = claude();
    let lastMs = 0;
    const work = pane.during(deliver(pane).work, (nowMs) => {
      if (nowMs % 10 !== 0 || nowMs > 300) return;
      lastMs = nowMs;
      pane.say(".");
    });
    expect((await work).outcome).toBe("submitted");
    expect(enters(pane)[0]!.atMs - lastMs).toBeGreaterThanOrEqual(30);

    const noisy = claude();
    expect((await noisy.during(deliver(noisy).work, (nowMs) => nowMs % 10 === 0 && noisy.say("."))).outcome).toBe(
      "submitted",
    );
    expect(enters(noisy)[0]!.atMs).toBeGreaterThanOrEqual(1_000);
  });

  test("is not pressed on a dialog that was drawn since the last look", async () => {
    const pane = claude();
    pane.afterCapture = (): void => {
      // Right after the look that would have let Enter pass.
      if (pane.clock.nowMs() >= QUIET_MS - 8 && enters(pane).length === 0 && pane.lines !== DIALOG) pane.draw(DIALOG);
    };
    await expect(pane.during(deliver(pane).work)).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { state: "asking", options: 2, textWritten: true },
    });
    expect(enters(pane)).toEqual([]);
  });

  test("is not pressed on what only tmux has seen so far", async () => {
    const pane = claude();
    let isHidden = false;
    pane.afterCapture = (): void => {
      if (isHidden || pane.clock.nowMs() < QUIET_MS - 8) return;
      isHidden = true;
      // Drawn in tmux; its bytes are on their way to us.
      pane.lines = DIALOG;
      pane.cursor = { col: 0, row: 9 };
    };
    const work = deliver(pane).work;
    await expect(pane.during(work)).rejects.toMatchObject({ code: "WRONG_STATE", details: { state: "asking" } });
    expect(enters(pane)).toEqual([]);
  });

  test("is not pressed when the program says that it asks", async () => {
    const pane = claude();
    const work = pane.during(deliver(pane).work, (nowMs) => nowMs === 40 && pane.become("asking"));
    await expect(work).rejects.toMatchObject({ code: "WRONG_STATE", details: { textWritten: true } });
    expect(enters(pane)).toEqual([]);
  });

  test.each([
    ["a program without brackets", "generic", ""],
    ["a program that is no agent", "generic", "\u001b[?2004h"],
    ["an agent that may take no brackets", "claude", ""],
  ])("nor is a text pasted into %s while its screen never holds still", async (_what, profile, said) => {
    const pane = new FakePane(profile);
    pane.draw(prompt(""), { col: 2, row: 1 });
    pane.say(said);
    pane.afterCapture = () => pane.say(".");
    await expect(pane.during(deliver(pane).work)).rejects.toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("nothing was typed") as string,
    });
    expect([pane.captures, pane.typed]).toEqual([200, []]);
  });

  test("is not pressed while the screen never holds still", async () => {
    const pane = claude();
    pane.afterCapture = () => pane.say(".");
    await expect(pane.during(deliver(pane).work)).rejects.toMatchObject({
      code: "TIMEOUT",
      details: { enterPresses: 0 },
    });
    expect(enters(pane)).toEqual([]);
  });

  test("is not pressed when somebody took the text away", async () => {
    const pane = claude();
    const work = pane.during(
      deliver(pane).work,
      (nowMs) => nowMs === QUIET_MS - 8 && pane.draw(prompt(""), { col: 2, row: 1 }),
    );
    expect(await work).toMatchObject({ outcome: "indeterminate", enterPresses: 0 });
    expect(enters(pane)).toEqual([]);
    // It is looked at when it draws.
    expect(pane.captures).toBeLessThan(10);
  });

  test.each([10, 60])("counts for nothing when the text is in the box again after %i ms", async (afterMs) => {
    const pane = claude();
    const atMs = (): number | undefined => enters(pane)[0]?.atMs;
    const work = pane.during(
      deliver(pane).work,
      (nowMs) => nowMs === (atMs() ?? NaN) + afterMs && pane.draw(prompt("fix it"), { col: 8, row: 1 }),
    );
    expect(await work).toMatchObject({ outcome: "echoed_unconfirmed", enterPresses: 1 });
  });

  test("does not count when somebody else took the text away, though the program works", async () => {
    const pane = claude();
    const work = pane.during(deliver(pane).work, (nowMs) => {
      if (nowMs !== QUIET_MS - 8) return;
      pane.become("busy");
      pane.draw(prompt("", ["❯ fix it and more"]), { col: 2, row: 2 });
    });
    expect(await work).toMatchObject({ outcome: "indeterminate", enterPresses: 0 });
  });

  test("is pressed three times at most, while the text still stands there", async () => {
    const pane = claude();
    const { answer } = pane;
    pane.answer = (typed) => typed.paste !== undefined && answer(typed);
    expect(await pane.during(deliver(pane).work)).toMatchObject({ outcome: "echoed_unconfirmed", enterPresses: 3 });
    const at = enters(pane).map(({ atMs }) => atMs);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(450);
  });

  test("is not pressed again on a dialog", async () => {
    const pane = claude();
    const { answer } = pane;
    pane.answer = (typed) =>
      typed.paste === undefined ? pane.draw(["❯ fix it", "", ...DIALOG], { col: 0, row: 7 }) : answer(typed);
    expect(await pane.during(deliver(pane).work)).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    expect(enters(pane)).toHaveLength(1);
  });
});

test("a line that is so long that its row does not look like a prompt any more is not queued", async () => {
  const pane = new FakePane("generic");
  pane.draw(["> "]);
  pane.answer = ({ paste }) => {
    if (paste === undefined) pane.draw(["> fix", "it", "done", "> "], { col: 2, row: 3 });
    else {
      pane.draw(["> fix", "it"], { col: 2, row: 1 });
      // What its screen says, of which nobody knows that it is our text.
      pane.become("busy");
    }
  };
  expect(await pane.during(deliver(pane).work)).toMatchObject({ outcome: "submitted", enterPresses: 1 });
});

describe("a text", () => {
  const shows = (pane: FakePane, text: string, row = 1): void =>
    pane.draw(prompt(text, row === 1 ? [] : ["● more"]), { col: 2 + text.length, row });
  const seen = { outcome: "submitted", enterPresses: 1 };

  test.each<[string, string, number, object]>([
    ["that is seen late is entered", "fix it", 2_900, seen],
    ["that is not seen in time is not", "fix it", 3_100, { outcome: "not_echoed", enterPresses: 0 }],
    ["that is long has more time", "long ".repeat(8_000), 4_900, seen],
  ])("%s", async (_what, text, afterMs, expected) => {
    const pane = claude();
    const { answer } = pane;
    pane.answer = (typed) => typed.paste === undefined && answer(typed);
    const work = pane.during(
      deliver(pane, { text }).work,
      (nowMs) => nowMs === afterMs && answer({ atMs: nowMs, paste: text.slice(-40) }),
    );
    expect(await work).toMatchObject(expected);
  });

  test("that was on the screen already is entered once it is drawn again", async () => {
    const pane = new FakePane("generic");
    pane.draw(["> ", "fix it"], { col: 2, row: 0 });
    pane.answer = ({ paste }) => (paste === undefined ? pane.draw(["> ", "done"]) : pane.say(paste));
    expect(await pane.during(deliver(pane).work)).toMatchObject(seen);
    const silent = new FakePane("generic");
    silent.draw(["> ", "fix it"], { col: 2, row: 0 });
    silent.answer = () => silent.say(".");
    expect(await silent.during(deliver(silent).work)).toMatchObject({ outcome: "not_echoed" });
  });

  test.each<[string, (pane: FakePane) => void, object]>([
    ["is away for a frame is entered", (pane) => shows(pane, ""), seen],
    ["has another letter for a frame is entered", (pane) => shows(pane, "fix it!"), seen],
  ])("that %s", async (_what, draw, expected) => {
    const pane = claude();
    const work = pane.during(deliver(pane).work, (nowMs) => {
      if (nowMs === QUIET_MS - 8) draw(pane);
      if (nowMs === 150) shows(pane, "fix it", 2);
    });
    expect(await work).toMatchObject(expected);
    expect(enters(pane)[0]!.atMs).toBeGreaterThanOrEqual(150);
  });

  test("that is away for a moment in a program that is never quiet is entered", async () => {
    const pane = claude();
    const work = pane.during(deliver(pane).work, (nowMs) => {
      if (nowMs < 1_150) pane.say(".");
      if (nowMs === 990) shows(pane, "");
      if (nowMs === 1_100) shows(pane, "fix it");
    });
    expect(await work).toMatchObject(seen);
  });

  test("waits for the gap that the caller gives, and from its echo for half of it", async () => {
    const pane = claude();
    await pane.during(deliver(pane, { gapMs: 300 }).work);
    expect(enters(pane)[0]!.atMs).toBe(300);
    const late = claude();
    const { answer } = late;
    late.answer = (typed) =>
      typed.paste === undefined ? answer(typed) : void late.clock.callAt(280, () => answer(typed));
    await late.during(deliver(late, { gapMs: 300 }).work);
    expect(enters(late)[0]!.atMs).toBe(430);
  });

  test("that is made plain text first is typed so", async () => {
    const pane = claude();
    await pane.during(deliver(pane, { text: "/help", literal: true }).work);
    expect(written(pane)).toEqual([" /help", "Enter"]);
  });
});

describe("nothing is typed", () => {
  test.each([
    ["asking", {}, "question"],
    ["starting", {}, "starting"],
    ["dead", {}, "ended"],
    ["busy", {}, "busy"],
    ["unknown", { reason: "screen_unknown" }, "whileUnknown"],
  ] as const)("while it is %s", async (state, details, word) => {
    const pane = claude();
    pane.become(state);
    await expect(pane.during(deliver(pane).work)).rejects.toMatchObject({
      code: "WRONG_STATE",
      details: { state, ...details },
      message: expect.stringContaining(word) as string,
    });
    expect(pane.typed).toEqual([]);
  });

  test("but all the same to an agent whose screen shows nothing known, for a caller that says so, and to other programs", async () => {
    const pane = claude();
    pane.become("unknown");
    await pane.during(deliver(pane, { whileUnknown: "type" }).work);
    expect(pane.typed.length).toBeGreaterThan(0);
    const plain = new FakePane("generic");
    plain.become("unknown");
    await plain.during(deliver(plain).work);
    expect(plain.typed.length).toBeGreaterThan(0);
  });

  test("to an agent whose screen shows nothing known, once it is too old to be starting still", async () => {
    const pane = claude();
    inFront(pane, "claude", String(Math.floor(process.uptime() * 100)));
    const { processes } = pane.server;
    const statNow = processes.statNow.bind(processes);
    // By which the system's clock of starts goes on as the pane's does: the program is ten seconds old.
    const own = (): object => ({ start: String(1_000 + pane.clock.nowMs() / 10) });
    Object.assign(processes, { statNow: (pid: number) => (pid === process.pid ? own() : statNow(pid)) });
    pane.become("unknown");
    const work = pane.during(deliver(pane, { timeoutMs: 60_000 }).work);
    await expect(work).rejects.toMatchObject({ code: "WRONG_STATE", details: { reason: "screen_unknown" } });
    expect(pane.clock.nowMs()).toBeGreaterThan(9_000);
    expect(pane.clock.nowMs()).toBeLessThan(12_000);
  });

  test("while it is busy and does not queue, though the caller would", async () => {
    const plain = new FakePane("generic");
    plain.become("busy");
    const { work } = deliver(plain, { whileBusy: "queue" });
    await expect(plain.during(work)).rejects.toMatchObject({
      message: expect.stringContaining("does not queue") as string,
    });
    expect(plain.typed).toEqual([]);
  });

  test.each([
    ["that is not known", () => ({ state: "unknown" })],
    ["of a pane that was not watched", () => undefined],
  ])("before a state %s was looked up, which may be another by then", async (_what, known) => {
    const pane = claude();
    if (known() !== undefined) pane.become("unknown");
    const watch = pane.readiness.watch.bind(pane.readiness);
    const probed = (...of: Parameters<typeof watch>) =>
      Object.assign(watch(...of), {
        probe: async () => {
          pane.become("asking");
          return pane.state;
        },
      });
    Object.assign(pane.readiness, { known, watch: probed });
    await expect(pane.during(deliver(pane).work)).rejects.toMatchObject({ details: { state: "asking" } });
    expect(pane.typed).toEqual([]);
  });

  test("to an agent that takes no pastes, or several lines to what takes none", async () => {
    const pane = claude();
    pane.say("\u001b[?2004h\u001b[?2004l");
    await expect(pane.during(deliver(pane).work)).rejects.toMatchObject({ code: "WRONG_STATE" });
    const plain = new FakePane("generic");
    for (const text of ["a\nb", "a\tb"]) {
      await expect(plain.during(deliver(plain, { text }).work)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        details: { bracketedPaste: "unknown" },
      });
    }
    expect([...pane.typed, ...plain.typed]).toEqual([]);
    plain.say("\u001b[?2004h");
    await plain.during(deliver(plain, { text: "a\nb" }).work);
    expect(written(plain)).toEqual(["a\nb"]);
  });

  test("of several lines to what has begun to take none since it was looked at", async () => {
    const plain = new FakePane("generic");
    plain.say("\u001b[?2004h");
    plain.afterCapture = (count): void => {
      if (count === 1) plain.say("\u001b[?2004l");
    };
    const { work } = deliver(plain, { text: "a\nb" });
    await expect(plain.during(work)).rejects.toMatchObject({ details: { bracketedPaste: "off" } });
    expect(plain.typed).toEqual([]);
  });

  test("to a program of which only tmux's word is known, unless the request names its profile", async () => {
    const plain = new FakePane("generic");
    plain.foreground = { pid: 5, command: "cat", processes: undefined };
    await expect(plain.during(deliver(plain).work)).rejects.toMatchObject({ details: { reason: "program_changed" } });
    expect(plain.typed).toEqual([]);
    await plain.during(deliver(plain, { profile: "generic" }).work);
    expect(plain.typed.length).toBeGreaterThan(0);
  });

  test("to a program whose profile nobody knows", async () => {
    const { work } = deliver(claude(), { profile: "nobody" });
    await expect(work).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  // Neither is in front by the time its text is written: the first is refused before, as it is not who was there.
  const [vim, cat] = [1, 2].map((n) => ({ pid: 2 ** 31 - n, start: "1", executable: "x", names: ["x"], depth: 0 }));
  test.each([
    ["who read when the request arrived has gone", {}, /^a different program reads .* than when the request arrived/],
    ["the request came too late to know who read", { isLate: true }, /that was meant no longer reads/],
  ])("where %s", async (_what, late, message) => {
    const pane = new FakePane("generic");
    const as = (one: typeof vim) => [{ ...one!, isShell: false, isInteractiveShell: false }];
    pane.foreground = { pid: 5, command: "cat", processes: as(cat) };
    const readers = { foreground: as(vim), endSigns: new EndSigns([], pane.server.processes) };
    const { work } = deliver(pane, { profile: "generic", addressee: { readers, ...late } });
    await expect(pane.during(work)).rejects.toMatchObject({ message: expect.stringMatching(message) as string });
  });

  test.each(["withdrawn", "signal"] as const)("for one that leaves (%s) while somebody types", async (way) => {
    const pane = claude("half");
    const leaving = new AbortController();
    const stages: string[] = [];
    const onStage = (stage: string): unknown => stages.push(stage);
    const { work } = deliver(pane, { whileTyping: "wait", onStage, [way]: leaving.signal });
    const left = work.catch((error: unknown) => error);
    await passMs(pane, 20);
    leaving.abort(new AppError("CANCELLED", "left"));
    expect(await left).toMatchObject({ message: "left" });
    pane.draw(prompt(""), { col: 2, row: 1 });
    await passMs(pane, 200);
    expect([stages, pane.typed]).toEqual([["held"], []]);
  });

  test("by a caller that has left, or when the engine closes", async () => {
    const pane = claude();
    const left = new AppError("CANCELLED", "left");
    const { delivery, request, work } = deliver(pane);
    const waiting = delivery.submit({ ...request, signal: AbortSignal.abort(left) });
    await expect(waiting).rejects.toBe(left);
    const later = delivery.submit(request);
    later.catch(() => undefined);
    await pane.during(work);
    delivery.close();
    await expect(later).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    expect(enters(pane)).toHaveLength(1);
  });
});

describe("turns", () => {
  test("one after the other, whole", async () => {
    const pane = claude();
    const { delivery, request, work } = deliver(pane, { text: "one" });
    const all = [work, delivery.submit({ ...request, text: "two" }), delivery.submit({ ...request, text: "three" })];
    await pane.during(Promise.all(all));
    expect(pane.typed.map(({ paste, keys }) => paste ?? keys?.[0])).toEqual([
      "one",
      "Enter",
      "two",
      "Enter",
      "three",
      "Enter",
    ]);
  });

  test("as many as there is room for, each no longer than it has time for", async () => {
    const pane = new FakePane("claude");
    pane.lines = prompt("");
    const { delivery, request, work } = deliver(pane);
    work.catch(() => undefined);
    const waiting = Array.from({ length: MAX_DELIVERIES_WAITING }, () =>
      delivery.submit({ ...request, timeoutMs: 50 }),
    );
    const settled = Promise.allSettled(waiting);
    await expect(delivery.submit(request)).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
    for (const result of await pane.during(settled)) {
      expect(result).toMatchObject({ reason: { message: "pane %1 was not free within 50 ms; nothing was typed" } });
    }
    expect((await pane.during(work)).outcome).toBe("not_echoed");
    expect(pane.typed).toHaveLength(1);
  });

  test("what has begun is brought to its end without its caller", async () => {
    const pane = claude();
    const leaving = new AbortController();
    const { work } = deliver(pane, { signal: leaving.signal });
    const left = pane.during(work, (nowMs) => nowMs === 20 && leaving.abort(new AppError("CANCELLED", "left")));
    await expect(left).rejects.toMatchObject({ message: "left" });
    await passMs(pane, 200);
    expect(enters(pane)).toHaveLength(1);
  });

  test("a stop lets what has begun come to its end, and begins nothing", async () => {
    const pane = claude();
    const { delivery, request, work } = deliver(pane);
    const waiting = delivery.submit(request).catch((error: unknown) => error);
    const stopped = pane.during(work, (nowMs) => nowMs === 20 && delivery.stop());
    expect((await stopped).outcome).toBe("submitted");
    expect(await waiting).toMatchObject({ code: "SHUTTING_DOWN" });
    await expect(delivery.submit(request)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    expect(pane.typed.map(({ paste, keys }) => paste ?? keys)).toEqual(["fix it", ["Enter"]]);
  });

  test("a drain refuses what is new, and resolves when what was accepted has ended", async () => {
    const pane = claude();
    const { delivery, request, work } = deliver(pane);
    const next = delivery.submit({ ...request, text: "then this" });
    const drained = delivery.drain(5_000);
    await expect(delivery.submit(request)).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    expect(await pane.during(drained)).toBe(0);
    expect([(await work).outcome, (await next).outcome]).toEqual(["submitted", "submitted"]);
    expect(await delivery.drain(0)).toBe(0);
  });

  test("a drain that takes too long says how many have not ended", async () => {
    const pane = new FakePane("claude");
    pane.lines = prompt("");
    const { delivery, work } = deliver(pane);
    expect(await pane.during(delivery.drain(20))).toBe(1);
    expect((await pane.during(work)).outcome).toBe("not_echoed");
  });

  test("a stop before the first byte is told at once, and nothing is typed", async () => {
    const pane = claude();
    const { delivery, work } = deliver(pane);
    delivery.stop();
    await expect(work).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await passMs(pane, 200);
    expect(pane.typed).toEqual([]);
  });
});

describe("a delivery with an idempotency key", () => {
  const idempotencyKey = "k-1";

  test("is repeated from its record, and types nothing again", async () => {
    const pane = claude();
    const { delivery, request, work } = deliver(pane, { idempotencyKey });
    const joined = delivery.submit(request);
    const first = await pane.during(work);
    expect(first.outcome).toBe("submitted");
    expect([await joined, await delivery.submit(request)]).toEqual(
      [1, 2].map(() => Object.assign({ ...first }, { repeated: true })),
    );
    await expect(delivery.submit({ ...request, text: "other" })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    expect(enters(pane)).toHaveLength(1);
  });

  test("that failed after it typed something fails again in the same way", async () => {
    const pane = claude();
    pane.answer = () => pane.draw(DIALOG);
    const { delivery, request, work } = deliver(pane, { idempotencyKey });
    await expect(pane.during(work)).rejects.toMatchObject({ details: { textWritten: true } });
    const repeat = pane.during(delivery.submit(request));
    await expect(repeat).rejects.toMatchObject({ code: "WRONG_STATE", details: { textWritten: true, repeated: true } });
    expect(pane.typed).toHaveLength(1);
  });

  test("that failed before it typed anything is tried again", async () => {
    const pane = claude();
    pane.draw(DIALOG);
    const { delivery, request, work } = deliver(pane, { idempotencyKey });
    await expect(pane.during(work)).rejects.toMatchObject({ code: "WRONG_STATE" });
    pane.draw(prompt(""), { col: 2, row: 1 });
    expect(await pane.during(delivery.submit(request))).toMatchObject({ outcome: "submitted" });
  });

  const lost = (details?: Record<string, unknown>): AppError => new AppError("CONNECTION_LOST", "lost", { details });
  test.each([
    ["at the text, which may be typed", "paste", lost({ delivery: "indeterminate" })],
    ["at Enter", "keys", lost()],
  ] as const)("whose connection is lost %s is indeterminate, and types nothing again", async (_when, at, error) => {
    const pane = claude();
    const { answer } = pane;
    pane.answer = (typed) => {
      if (typed[at] !== undefined) throw error;
      answer(typed);
    };
    const { delivery, request, work } = deliver(pane, { idempotencyKey });
    expect(await pane.during(work)).toMatchObject({ outcome: "indeterminate" });
    const before = pane.typed.length;
    expect(await pane.during(delivery.submit(request))).toMatchObject({ outcome: "indeterminate", repeated: true });
    expect(pane.typed).toHaveLength(before);
  });

  test("of which only the beginning was typed, because tmux had another word for the program, types nothing again", async () => {
    const pane = claude();
    pane.answer = () => {
      throw new AppError("INCONSISTENT_STATE", "changed", { details: { delivery: "indeterminate" } });
    };
    const { delivery, request, work } = deliver(pane, { idempotencyKey });
    const details = { textWritten: true, delivery: "indeterminate" };
    await expect(pane.during(work)).rejects.toMatchObject({ code: "INCONSISTENT_STATE", details });
    await expect(delivery.submit(request)).rejects.toMatchObject({ details: { ...details, repeated: true } });
    expect(pane.typed).toHaveLength(1);
  });

  test("whose connection is lost before the text was written is tried again", async () => {
    const pane = claude();
    const { answer } = pane;
    pane.answer = () => {
      throw lost();
    };
    const { delivery, request, work } = deliver(pane, { idempotencyKey });
    await expect(pane.during(work)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    pane.answer = answer;
    expect(await pane.during(delivery.submit(request))).toMatchObject({ outcome: "submitted" });
  });

  test.each(["", "a b", "é", "x".repeat(256)])("%j is refused", async (invalid) => {
    const { work } = deliver(claude(), { idempotencyKey: invalid });
    await expect(work).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("may be as long as the longest", async () => {
    const pane = claude();
    const { work } = deliver(pane, { idempotencyKey: "x".repeat(255) });
    expect(await pane.during(work)).toMatchObject({ outcome: "submitted" });
  });
});

describe("without a prompt", () => {
  test("keys are pressed, a turn is stopped and the box is emptied, also in a program known by tmux's word alone", async () => {
    const pane = new FakePane("generic");
    pane.foreground = { pid: 5, command: "cat", processes: undefined };
    const delivery = engineOf(pane);
    const at = { server: pane.server, pane: pane.pane };
    await pane.during(delivery.interrupt(at.server, at.pane));
    await pane.during(delivery.clear(at.server, at.pane));
    expect(written(pane)).toEqual(["C-c", "C-u"]);
    const steps = [{ kind: "key", key: "Enter" }] as const;
    const pressed = delivery.press({ ...at, steps, gapMs: 0 });
    await expect(pane.during(pressed)).rejects.toMatchObject({ details: { reason: "program_changed" } });
    const left = delivery.press({
      ...at,
      steps,
      gapMs: 0,
      signal: AbortSignal.abort(new AppError("CANCELLED", "left")),
    });
    await expect(left).rejects.toMatchObject({ message: "left" });
  });

  test("only the text that is meant is emptied away", async () => {
    const pane = claude("fix it");
    const onTyping = (): never => {
      throw new Error("no history has that a box was emptied");
    };
    const delivery = engineOf(pane, { onTyping });
    const other = delivery.clear(pane.server, pane.pane, { only: "other" });
    await expect(pane.during(other)).rejects.toMatchObject({ details: { reason: "box_changed" } });
    expect(pane.typed).toEqual([]);
    const at = { server: pane.server, pane: pane.pane, text: "fix it" };
    expect(await pane.during(delivery.look(at))).toMatchObject({ typed: "fix it", holds: true });
    await pane.during(delivery.clear(pane.server, pane.pane, { only: "fix it" }));
    expect([written(pane), (await pane.during(delivery.look(at))).typed]).toEqual([["C-u"], ""]);
  });

  test.each([
    [0, 200],
    [1_000, 10],
  ])(
    "a pane that never holds still and takes %i ms to look at is looked at %i times, then nothing is pressed",
    async (tookMs, times) => {
      const pane = claude();
      pane.afterCapture = () => {
        pane.clock.advanceMs(tookMs);
        pane.say(".");
      };
      const cleared = engineOf(pane).clear(pane.server, pane.pane);
      await expect(pane.during(cleared)).rejects.toMatchObject({ code: "TIMEOUT" });
      expect([pane.captures, pane.typed]).toEqual([times, []]);
    },
  );
});

test("who keeps a history is told what is typed for whom in the turn of the first write, and how it ended", async () => {
  const pane = claude();
  const told: unknown[] = [];
  const delivery = engineOf(pane, {
    onTaken: (taken) => told.push(taken),
    onTyping: ({ by, idempotencyKey, what }) => {
      told.push([by, idempotencyKey, what, pane.typed.length]);
      return (outcome) => told.push(outcome);
    },
  });
  const at = { server: pane.server, pane: pane.pane };
  const stages: string[] = [];
  const onStage = (stage: string): unknown => stages.push(stage);
  await pane.during(delivery.submit({ ...at, text: "fix it", by: "me", idempotencyKey: "k", onStage }));
  const what = { kind: "prompt", text: "fix it" };
  expect(told.splice(0)).toEqual([["me", "k", what, 0], { ...at, text: "fix it", process: undefined }, "submitted"]);
  expect(stages).toEqual(["typing", "entering"]);
  const steps = [
    { kind: "key", key: "a" },
    { kind: "key", key: "Enter" },
  ] as const;
  await pane.during(delivery.press({ ...at, steps, gapMs: 10 }));
  expect(told.splice(0)).toEqual([[undefined, undefined, { kind: "keys", steps }, 2], "echoed_unconfirmed"]);
  await pane.during(delivery.interrupt(at.server, at.pane, {}, "you"));
  expect(told.splice(0)).toEqual([["you", undefined, { kind: "interrupt" }, 4], undefined]);
  expect(written(pane)).toEqual(["fix it", "Enter", "a", "Enter", "Escape"]);

  pane.answer = () => undefined;
  await pane.during(delivery.submit({ ...at, text: "unseen" }));
  expect(told.slice(1)).toEqual(["not_echoed"]);
});
