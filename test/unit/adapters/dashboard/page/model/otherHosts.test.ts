import { describe, expect, test } from "vitest";
import { farAnswerBody } from "../../../../../../adapters/dashboard/page/model/answers.ts";
import {
  foldHostEvent,
  type Hosts,
  startHosts,
  withFar,
} from "../../../../../../adapters/dashboard/page/model/otherHosts.ts";
import type { Agents } from "../../../../../../adapters/dashboard/page/model/agents.ts";
import { canPrompt, groupsOf, needOf } from "../../../../../../adapters/dashboard/page/model/order.ts";
import { beganAsking } from "../../../../../../adapters/dashboard/page/model/pageState.ts";
import { labelOf, nameOf, reasonText } from "../../../../../../adapters/dashboard/page/words/stateWords.ts";
import type { HostEvent } from "../../../../../../protocol/api/dashboardHosts.ts";
import { HOST_DIALOG, hostAgent, hostAgents, hostEntry } from "../../../../../support/daemon/hostCards.ts";
import { card, shownCard } from "../../../../../support/daemon/dashboardCards.ts";

const NOBODY = { agents: new Map() as Agents, hosts: new Map() as Hosts };
const folded = (...events: readonly HostEvent[]) => events.reduce(foldHostEvent, NOBODY);
const CONNECTED: HostEvent = { type: "hosts", hosts: [hostEntry("build")] };

describe("agents of other machines", () => {
  test("are cards with numbers of their own, which stay", () => {
    const first = folded(CONNECTED, hostAgents(hostAgent("a"), hostAgent("b")));
    expect([...first.agents.keys()]).toEqual([-1, -2]);
    const { agents } = foldHostEvent(first, hostAgents(hostAgent("b"), hostAgent("c")));
    expect([...agents].map(([number, { running }]) => [number, running?.id])).toEqual([
      [-2, "b@build"],
      [-3, "c@build"],
    ]);
    const mine = withFar(new Map([[4, shownCard(card(4))]]), agents);
    expect([...mine.keys()]).toEqual([4, -2, -3]);
  });

  test("say what they do, and are named with their machine", () => {
    const states = ["ready", "busy", "starting", "asking", "unknown"] as const;
    const { agents } = folded(CONNECTED, hostAgents(...states.map((state) => hostAgent(state, { state, task: null }))));
    const cards = [...agents.values()];
    expect(cards.map((each) => [needOf(each), labelOf(each)])).toEqual([
      ["ready", "Ready"],
      ["working", "Working"],
      ["working", "Working"],
      ["asking", "Input needed"],
      ["working", "Not known"],
    ]);
    expect(nameOf(cards[0]!)).toBe("shop@build");
    expect(groupsOf([shownCard(card(1)), ...cards], { grouping: "host", filter: "", host: undefined })).toMatchObject([
      { key: "" },
      { key: "build" },
    ]);
    expect(groupsOf([shownCard(card(1)), ...cards], { grouping: "need", filter: "", host: "" })).toHaveLength(1);
    expect(groupsOf(cards, { grouping: "need", filter: "build busy", host: undefined })[0]?.cards).toHaveLength(1);
  });

  test("are started where a daemon runs that can be reached", () => {
    const { hosts } = folded({
      type: "hosts",
      hosts: [
        hostEntry("build"),
        hostEntry("bare", { agentless: true }),
        hostEntry("gone", { state: "unreachable", why: "it is off" }),
        hostEntry("coming", { state: "connecting" }),
      ],
    });
    expect(startHosts(hosts)).toEqual(["build", "coming"]);
  });

  test("end, and have the messages that wait for them", () => {
    const message = { id: "m@build", agent: "a@build", text: "next", outcome: "waiting", reason: null } as const;
    const told: HostEvent = { type: "host_messages", host: "build", messages: [{ ...message, createdUnixMs: 5 }] };
    const before = folded(CONNECTED, hostAgents(hostAgent("a"), hostAgent("b")), told);
    expect(before.agents.get(-1)?.running?.messages).toMatchObject([{ id: "m@build", created_unix_ms: 5 }]);
    const changed = foldHostEvent(before, {
      type: "host_agent",
      host: "build",
      agent: hostAgent("a", { state: "busy" }),
    });
    expect(changed.agents.get(-1)?.running?.messages).toHaveLength(1);
    const ended: HostEvent = { type: "host_agent", host: "build", agent: hostAgent("a", { state: "ended" }) };
    expect([...foldHostEvent(changed, ended).agents.keys()]).toEqual([-2]);
  });

  test("stay while their machine is away, take nothing, and come back without asking anew", () => {
    const asking = hostAgent("a", { state: "asking", question: HOST_DIALOG });
    const before = folded(CONNECTED, hostAgents(asking));
    const away = (sinceUnixMs: number, why: string): HostEvent => ({
      type: "host",
      host: hostEntry("build", { state: "unreachable", sinceUnixMs, why }),
    });
    const gone = foldHostEvent(before, away(7_000, "no route"));
    const later = foldHostEvent(
      foldHostEvent(gone, { type: "host", host: hostEntry("build", { state: "connecting" }) }),
      away(9_000, "refused"),
    );
    // Since the first failure, for the latest reason.
    expect(later.hosts.get("build")?.away).toEqual({ words: "refused", sinceUnixMs: 7_000 });
    const shown = later.agents.get(-1)!;
    expect([needOf(shown), labelOf(shown), canPrompt(shown), shown.state_since_unix_ms]).toEqual([
      "gone",
      "Host away",
      false,
      7_000,
    ]);
    expect(reasonText(shown)).toContain("build is away");
    const back = foldHostEvent(foldHostEvent(later, { type: "host", host: hostEntry("build") }), hostAgents(asking));
    expect(back.hosts.get("build")?.away).toBeUndefined();
    expect(needOf(back.agents.get(-1)!)).toBe("asking");
    expect(beganAsking(later.agents, back.agents)).toEqual([]);
    const other = hostAgents({ ...asking, question: { ...HOST_DIALOG, id: "d2" } });
    expect(beganAsking(later.agents, foldHostEvent(later, other).agents)).toHaveLength(1);
  });

  test("go with their machine", () => {
    const before = folded({ type: "hosts", hosts: [hostEntry("build"), hostEntry("gpu")] }, hostAgents(hostAgent("a")));
    expect(foldHostEvent(before, { type: "host_removed", host: "build" })).toMatchObject({ agents: new Map() });
    // The page's stream has begun anew.
    const { agents, hosts } = foldHostEvent(before, { type: "hosts", hosts: [hostEntry("gpu")] });
    expect([agents.size, [...hosts.keys()]]).toEqual([0, ["gpu"]]);
  });

  test("that cannot all be shown are said to be so until the next list", () => {
    const problem: HostEvent = { type: "host_problem", host: "build", problem: "only 500 of its agents are shown" };
    const before = folded(CONNECTED, hostAgents(hostAgent("a")), problem);
    expect(before.hosts.get("build")?.problem).toBe("only 500 of its agents are shown");
    expect(foldHostEvent(before, hostAgents()).hosts.get("build")?.problem).toBeUndefined();
  });

  test("are answered for the dialog that was shown", () => {
    const { question } = folded(
      CONNECTED,
      hostAgents(hostAgent("a", { state: "asking", question: HOST_DIALOG })),
    ).agents.get(-1)!;
    expect(farAnswerBody({ kind: "option", option: question!.options[0]! }, question)).toEqual({
      answer: { kind: "option", index: 0 },
      dialogId: "d1",
    });
    expect(farAnswerBody({ kind: "other", text: "no" }, question)).toEqual({
      answer: { kind: "other", text: "no" },
      dialogId: "d1",
    });
    const choices = [{ indices: [2, 0], isMulti: true }];
    expect(farAnswerBody({ kind: "several", choices }, question)).toMatchObject({ answer: { answers: [[2, 0]] } });
    expect(farAnswerBody({ kind: "keys", keys: ["Escape"] }, question)).toBeUndefined();
  });
});
