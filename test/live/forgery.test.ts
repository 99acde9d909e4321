/** Nothing a pane prints or names itself reaches us as tmux's word. */
import { expect, test } from "vitest";
import { forgery, numberReadingTransport } from "../support/tmux/forgeryScenario.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

test("guard lines with the right numbers, forged events, hostile names: every capture is exact", async () => {
  const { open, lastNumber } = numberReadingTransport();
  await using fixture = await ownedFixture({ transport: open });
  const result = await forgery(fixture.server, fixture.socket, lastNumber, 10);
  expect(result).toEqual({
    captures: 100,
    inexactCaptures: 0,
    forgedBytes: 0,
    descriptionsWrong: 0,
    events: [],
    epochs: 1,
  });
  expect(fixture.log).toEqual([]);
  expect(fixture.server.sessions().map((session) => session.id)).toHaveLength(2);
});
