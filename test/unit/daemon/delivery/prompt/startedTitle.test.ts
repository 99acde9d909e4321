/** What the stream says of when a program has started; how long it is waited for: `pane/reader.test.ts`. */
import { expect, test } from "vitest";
import { hasStartedSince } from "../../../../../daemon/delivery/prompt/startedTitle.ts";
import { PaneWatch } from "../../../../../daemon/delivery/pane/paneWatch.ts";
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
