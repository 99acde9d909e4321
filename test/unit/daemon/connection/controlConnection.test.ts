/** What a lost connection says about its end. */
import { expect, test } from "vitest";
import { fakeConnection } from "../../../support/tmux/fakeTransport.ts";

const failedAttach = (why: string): string => `%begin 1 100 0\n${why}\n%error 1 100 0\n`;

test.each<[string, string, string | undefined]>([
  ["nothing, where tmux said nothing", "", undefined],
  ["the reason that tmux names", "%exit server exited\n", "server exited"],
  ["that it was detached, where tmux names no reason", "%exit\n", "detached"],
  ["why it could not attach", `${failedAttach("can't find session: x")}%exit\n`, "can't find session: x"],
  ["the first line that is no notification", "no server\nsecond\n", "no server"],
  ["no notification that is not known", "%what-is-this\n%exit\n", "detached"],
  ["nothing that came after tmux's first reply", "%begin 1 101 1\n%end 1 101 1\nforeign\n", undefined],
  ["no more than there is room for", failedAttach("x".repeat(201)), `${"x".repeat(199)}…`],
  ["no half of a letter", `${"x".repeat(198)}\u00f0\u009f\u0098\u0080!\n`, `${"x".repeat(198)}…`],
])("the error has %s", (_what, said, tmux) => {
  const { connection, transport, closedWith } = fakeConnection();
  connection.send("refresh-client", "none", () => undefined);
  transport.push(said);
  transport.drop();
  const reason = tmux ?? "the control client ended";
  expect(closedWith).toMatchObject([{ code: "CONNECTION_LOST", details: { reason, tmux } }]);
});
