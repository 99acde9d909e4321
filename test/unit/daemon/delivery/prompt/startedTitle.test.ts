/** When a program has started, as its title says. */
import { expect, test } from "vitest";
import { hasStartedSince, untilStarted } from "../../../../../daemon/delivery/prompt/startedTitle.ts";
import { PaneWatch } from "../../../../../daemon/delivery/pane/paneWatch.ts";
import type { Work } from "../../../../../daemon/delivery/work.ts";
import { trackerOf } from "../../../../../daemon/panes/vt/vtTracker.ts";
import { MAX_ROW_CHARACTERS, type Profile } from "../../../../../daemon/readiness/profile.ts";
import { PROFILES } from "../../../../support/agents/agentCatalogue.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";

const TITLE = "\u001b]2;π - project\u0007";

const OTHER = "\u001b]2;~\u0007";

/** π is two bytes. */
test.each<[string, readonly string[], number]>([
  ["the title's last byte, wherever its output is cut", [OTHER, TITLE, "."], (OTHER + TITLE).length + 1],
  ["the first of two titles", [TITLE, ".", TITLE], TITLE.length + 1],
  ["nothing where there is no such title", [OTHER, "\u001b]133;A\u0007"], 0],
  ["nothing where there is a gap", [TITLE, "gap"], 0],
  ["nothing where a gap is before the title", ["gap", TITLE], 0],
])("a program has started since what is before %s", (_what, said, end) => {
  const { server, pane, readiness, clock, stream } = new FakePane("pi");
  for (const one of said) {
    if (one === "gap") stream.declareHole("paused");
    else stream.take(Buffer.from(one));
  }
  using watch = new PaneWatch({ server, pane, readiness, clock });
  for (let seq = 0; seq <= stream.outputSeq; seq += 1) {
    expect([seq, hasStartedSince(watch, PROFILES.named("pi"), seq)]).toEqual([seq, seq < end]);
  }
});

const ON = "\u001b[?2004h";

interface Given {
  readonly isNew?: boolean;
  readonly said?: readonly string[];
  /** What tmux says, asked and unasked. */
  readonly titles?: readonly [string, string | undefined];
  /** Said after 20 ms. */
  readonly later?: string;
  readonly profile?: Profile;
}

const PI = PROFILES.named("pi");
const ENDS = { ...PI, submit: { ...PI.submit, startedTitle: /end$/ } };
const LONG = `${"x".repeat(MAX_ROW_CHARACTERS)} end`;
const FULL = "x".repeat(70_000);

/** A new one reads since it turned on brackets. */
test.each<[string, Given, boolean, number]>([
  ["does not say so by its title", { profile: PROFILES.named("claude") }, true, 0],
  ["has that title", { titles: ["π - project", ""] }, true, 0],
  ["has that title, new since nobody knows when", { isNew: true, titles: ["π - project", ""] }, true, 0],
  ["may have said so in what has left the ring", { said: [FULL, "."] }, true, 0],
  ["says so", { later: TITLE }, true, 20],
  ["is said by tmux to have that title", { titles: ["", "π - project"], later: "." }, true, 20],
  ["says nothing", {}, true, 50],
  ["says nothing, in a pane that tmux does not list", { titles: ["", undefined] }, true, 50],
  ["has longer titles only", { profile: ENDS, said: [`\u001b]2;${LONG}\u0007`], titles: [LONG, LONG] }, true, 50],
  ["is new and says nothing", { isNew: true, said: [ON] }, false, 50],
  ["is new and has its predecessor's title", { isNew: true, said: [ON], titles: ["π - project", ""] }, true, 50],
  ["is new and said so before it read", { isNew: true, said: [TITLE, ON] }, true, 50],
  ["is new and does not read", { isNew: true, said: [ON, "\u001b[?2004l"] }, true, 50],
  ["is new and has read since nobody knows when", { isNew: true, said: [ON, FULL, "."] }, true, 50],
])("one that %s has started or may have: its wait", async (_what, given, hasStarted, atMs) => {
  const { isNew = false, said = [], titles: [asked, known] = ["", ""], later, profile = PI } = given;
  const fake = new FakePane("pi");
  const { server, pane, readiness, clock, stream } = fake;
  for (const one of said) {
    fake.say(one);
    trackerOf(stream).readOn();
  }
  let knows = false;
  Object.assign(server, {
    describePane: async () => ({ title: asked }),
    findPane: () => (known === undefined ? undefined : { exit: undefined, title: knows ? known : "" }),
  });
  using watch = new PaneWatch({ server, pane, readiness, clock });
  const work = { watch, reader: { isNew }, deadlineMs: 50 } as Work;
  const result = await fake.during(untilStarted(work, profile), (nowMs) => {
    if (nowMs !== 20) return;
    knows = true;
    if (later !== undefined) fake.say(later);
  });
  expect([result, clock.nowMs()]).toEqual([hasStarted, atMs]);
});
