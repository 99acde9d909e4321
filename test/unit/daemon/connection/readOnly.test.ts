/** A client that somebody made read-only: tmux refuses its commands, one by one and for ever. */
import { expect, test } from "vitest";
import { fakeConnection, turn } from "../../../support/tmux/fakeTransport.ts";

test.each([
  ["client is read-only", true],
  ["no server with client is read-only", false],
])("refused with %j: given up at once %j", async (text, isGivenUp) => {
  const { connection, transport, closedWith } = fakeConnection();
  const refused = connection.command("list-session", "none").catch((error: unknown) => error);
  await turn();
  transport.reply(`${text}\n`, false);
  expect(await refused).toMatchObject({ code: "TMUX_COMMAND_FAILED" });
  expect(closedWith.map(({ code }) => code)).toEqual(isGivenUp ? ["CONNECTION_LOST"] : []);
});
