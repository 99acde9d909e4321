/** A person types into the box of an agent that is answered through the dashboard (docs/contracts/dashboard.md §6, H6). */
import { expect, test } from "vitest";
import { type GuestAgent, guestAgent } from "../support/agents/agentPrograms.ts";
import { shows } from "../support/agents/agentsKeys.ts";
import { eventually } from "../support/clock/eventually.ts";
import { DASHBOARD_SETTINGS, dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { AGENT, ask, atWork } from "../support/daemon/dashboardTurns.ts";

const TYPED = "abcdefghijklmnopqrstuvwxyz";
const ANSWER = "[the answer]";

const type = async ({ person }: GuestAgent): Promise<void> => {
  for (const letter of TYPED) {
    person.type(letter);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** What has been read besides the answer's text. */
const readOf = ({ channel }: GuestAgent): string =>
  channel.log
    .map(({ event, text }) => (event === "read" ? text : ""))
    .join("")
    .replace(ANSWER, "")
    .replaceAll(/[^a-z]/g, "");

test.each<[string, (agent: GuestAgent) => Promise<unknown>, readonly number[]]>([
  ["before the answer", async () => undefined, [409]],
  ["from the answer's paste on", ({ channel }) => channel.next("paste"), [200, 409, 502]],
  ["once the answer is taken", ({ channel }) => channel.next("submit"), [200]],
])("a person who types into the box %s loses nothing", async (when, begins, statuses) => {
  await using agent = await guestAgent("inkPrompt", { options: { busyMs: 20 } });
  await using dashboard = await dashboardFixture(agent.server);
  await atWork(dashboard, agent.pane);
  await ask(dashboard);
  const typing = begins(agent).then(() => type(agent));
  // Then all of it is in the box, and the answer would be one prompt with it.
  if (when === "before the answer") {
    await typing;
    await shows(agent, TYPED);
  }
  const answer = await dashboard.respond(AGENT, { text: ANSWER });
  await typing;
  expect(statuses).toContain(answer.status);
  if (when === "before the answer") expect(answer.json).toMatchObject({ reason: "box_not_empty", box: TYPED });
  const isTyped = agent.channel.count("paste") > 0;
  expect(isTyped).toBe(when !== "before the answer");
  // What is still in the box is submitted by the person: with a key of its own, for one that is read with text is lost.
  await eventually(() => readOf(agent).length >= TYPED.length);
  agent.person.type("\r");
  const whole = TYPED.length + (isTyped ? ANSWER.length : 0);
  await eventually(() => agent.channel.submits().join("").length >= whole);
  expect(agent.channel.submits().join("").replace(ANSWER, "")).toBe(TYPED);
  if (statuses.length === 1 && answer.status === 200) expect(agent.channel.submits()).toEqual([ANSWER, TYPED]);
});

test("what stands in the box is emptied first where the settings say so", async () => {
  await using agent = await guestAgent("inkPrompt", { options: { busyMs: 0 } });
  const settings = { ...DASHBOARD_SETTINGS, clearFirst: true };
  await using dashboard = await dashboardFixture(agent.server, { settings });
  await atWork(dashboard, agent.pane);
  await ask(dashboard);
  await type(agent);
  // What is drawn later than it is read would come into the box after it was emptied.
  await shows(agent, TYPED);
  const { json } = await dashboard.respond(AGENT, { text: ANSWER });
  expect(json).toMatchObject({ status: "ok", delivery: "submitted" });
  await agent.channel.next("submit");
  expect(agent.channel.submits()).toEqual([ANSWER]);
});
