/** Keys without a prompt: those that stop a turn, and steps that a caller gives. */
import { describe, expect, test } from "vitest";
import { DeliveryEngine } from "../../../../../daemon/delivery/deliveryEngine.ts";
import type { PressStep } from "../../../../../daemon/delivery/delivery.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";

const engineOf = ({ readiness, clock }: FakePane): DeliveryEngine =>
  new DeliveryEngine({ readiness, clock, nowUnixMs: () => 0 });
const written = ({ typed }: FakePane): unknown[] => typed.map(({ paste, keys }) => paste ?? keys?.[0]);
const atMs = ({ typed }: FakePane): readonly number[] => typed.map((one) => one.atMs);

describe("a turn is stopped", () => {
  const AGAIN = "  esc again to interrupt";
  type Act = (pane: FakePane, presses: number) => unknown;
  const stops: Act = (pane) => pane.become("idle");

  test.each<[string, string, Act, readonly number[]]>([
    ["by one Escape", "claude", stops, [0]],
    [
      "by a second one once it is asked for",
      "opencode",
      (pane, presses) => (presses === 1 ? pane.draw([AGAIN]) : stops(pane, presses)),
      [0, 60],
    ],
    ["by the first one already", "opencode", stops, [0]],
    ["by the first one, with its hint still drawn", "opencode", (pane) => (pane.draw([AGAIN]), stops(pane, 1)), [0]],
    ["of a program that is no agent, whether it stops or not", "generic", () => undefined, [0]],
    [
      "by a second one that nothing asks for",
      "opencode",
      (pane, presses) => presses === 2 && stops(pane, presses),
      [0, 2_060],
    ],
    ["with the end of the program", "claude", (pane) => pane.stream.declareExit({ exitCode: 0 }), [0]],
  ])("%s", async (_what, profile, act, expected) => {
    const pane = new FakePane(profile);
    pane.become("busy");
    pane.answer = () => void act(pane, pane.typed.length);
    await pane.during(engineOf(pane).interrupt(pane.server, pane.pane));
    expect(atMs(pane)).toEqual(expected);
    expect(pane.clock.nowMs()).toBeLessThan((expected.at(-1) ?? 0) + 100);
  });

  test("or it is said that it was not", async () => {
    const pane = new FakePane("claude");
    pane.become("busy");
    await expect(pane.during(engineOf(pane).interrupt(pane.server, pane.pane))).rejects.toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("still works") as string,
    });
    expect([written(pane), pane.clock.nowMs()]).toEqual([["Escape"], 8_000]);
  });

  test("or the connection is lost meanwhile", async () => {
    const pane = new FakePane("claude");
    pane.become("busy");
    pane.answer = () => pane.stream.close(new AppError("CONNECTION_LOST", "gone"));
    await expect(pane.during(engineOf(pane).interrupt(pane.server, pane.pane))).rejects.toMatchObject({
      code: "CONNECTION_LOST",
    });
  });

  test("that is none, by all the keys, and nothing is waited for", async () => {
    const pane = new FakePane("opencode");
    await pane.during(engineOf(pane).interrupt(pane.server, pane.pane));
    expect([written(pane), atMs(pane)]).toEqual([
      ["Escape", "Escape"],
      [0, 60],
    ]);
  });
});

describe("steps", () => {
  const press = (pane: FakePane, steps: readonly PressStep[]) =>
    pane.during(engineOf(pane).press({ server: pane.server, pane: pane.pane, steps, gapMs: 50 }));

  test("are typed one by one, with the gap between them", async () => {
    const pane = new FakePane("generic");
    const result = await press(pane, [
      { kind: "key", key: "Down" },
      { kind: "paste", text: "some text" },
      { kind: "key", key: "Enter" },
    ]);
    expect(result).toMatchObject({ outcome: "echoed_unconfirmed", firstByteMs: 0, enterMs: 100, enterPresses: 1 });
    expect([written(pane), atMs(pane)]).toEqual([
      ["Down", "some text", "Enter"],
      [0, 50, 100],
    ]);
  });

  test.each<[string, PressStep]>([
    ["no key", { kind: "key", key: "Shout" }],
    ["lines that would be entered one by one", { kind: "paste", text: "a\nb" }],
    ["an empty text", { kind: "paste", text: " " }],
  ])("none is typed when the last is %s", async (_what, last) => {
    const pane = new FakePane("generic");
    await expect(press(pane, [{ kind: "key", key: "a" }, last])).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(pane.typed).toEqual([]);
  });

  test("none is typed into what has ended, and none after a lost connection", async () => {
    const pane = new FakePane("generic");
    pane.stream.declareExit({ exitCode: 0 });
    await expect(press(pane, [{ kind: "key", key: "a" }])).rejects.toMatchObject({ details: { state: "dead" } });
    expect(pane.typed).toEqual([]);
    const lost = new FakePane("generic");
    lost.answer = () => {
      throw new AppError("CONNECTION_LOST", "gone");
    };
    const pressed = press(lost, [
      { kind: "key", key: "a" },
      { kind: "key", key: "b" },
    ]);
    await expect(pressed).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(written(lost)).toEqual(["a"]);
  });

  test("that are cut short after the first leave it open", async () => {
    const pane = new FakePane("generic");
    pane.answer = () => {
      if (pane.typed.length === 2) throw new AppError("CONNECTION_LOST", "gone");
    };
    const pressed = press(pane, [
      { kind: "key", key: "a" },
      { kind: "key", key: "b" },
    ]);
    expect(await pressed).toMatchObject({ outcome: "indeterminate" });
  });

  test("of keys alone are typed for an agent that takes no paste", async () => {
    const pane = new FakePane("claude");
    pane.say("\u001b[?2004l.");
    await press(pane, [{ kind: "key", key: "a" }]);
    expect(written(pane)).toEqual(["a"]);
  });
});
