/** When commands are written, who else is at work, and what a lost connection says about its end. */
import { expect, test } from "vitest";
import { ControlConnection } from "../../../../daemon/connection/controlConnection.ts";
import { featuresOf } from "../../../../daemon/connection/tmuxFeatures.ts";
import { PROGRAMS } from "../../../../protocol/command/formats.ts";
import type { PaneId } from "../../../../protocol/ids.ts";
import { MAX_PENDING_COMMAND_BYTES } from "../../../../protocol/limits.ts";
import { fakeConnection, FakeTransport, turn } from "../../../support/tmux/fakeTransport.ts";

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

const ignored = (): void => undefined;

test("the first command of a turn is written at once, the others at its end", async () => {
  const { connection, transport } = fakeConnection();
  for (const name of ["a", "b", "c"]) connection.send(name, "none", ignored);
  expect(transport.lines).toEqual(["a"]);
  await turn();
  expect(transport.lines).toEqual(["a", "b", "c"]);
  connection.sendGroup(["d", "e"], ignored);
  expect(transport.lines.slice(3)).toEqual(["d ; e"]);
});

test("what waits for a reply is counted in bytes, not in letters", () => {
  const { connection } = fakeConnection();
  const half = "ü".repeat(MAX_PENDING_COMMAND_BYTES / 4);
  connection.send(half, "none", ignored);
  const refused = (): void => connection.send(half, "none", ignored);
  expect(refused).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT" }));
});

test("what is asked before the client is attached waits for that", async () => {
  const transport = new FakeTransport();
  const connection = new ControlConnection({
    open: transport.open,
    spawn: { tmux: "tmux", args: [], env: {}, cwd: "/" },
    onOutput: ignored,
    onNotification: ignored,
    onChunkEnd: ignored,
    onClosed: ignored,
  });
  for (const name of ["a", "b"]) connection.send(name, "none", ignored);
  await turn();
  transport.push("%sessions-changed\n");
  expect(transport.lines).toEqual([]);
  transport.attach();
  expect(transport.lines).toEqual(["a", "b"]);
});

test("commands that others have executed are counted, ours are not", async () => {
  const { connection, transport } = fakeConnection();
  const after = async (ask: () => void, reply: () => void): Promise<number> => {
    ask();
    await turn();
    reply();
    return connection.othersCommands;
  };
  const ask = (): Promise<number> =>
    after(
      () => connection.send("x", "none", ignored),
      () => transport.reply(),
    );
  // The attach, and one between it and our first.
  expect([await ask(), await ask()]).toEqual([2, 2]);
  transport.othersDid(3);
  expect([await ask(), await ask()]).toEqual([5, 5]);
  const foreign = (): Promise<number> =>
    after(
      () => void connection.foreign((nonce) => nonce),
      () => transport.replyForeign(""),
    );
  expect([await foreign(), await ask()]).toEqual([5, 5]);
  // A hook's block is passed on after the reply that it is in.
  const hooked = after(
    () => void connection.foreign((nonce) => nonce),
    () => transport.replyForeign("", "", 1),
  );
  expect([await hooked, await ask(), connection.replies]).toEqual([6, 6, 8]);
});

test("in a reply that can have no body a notification is one, in another it is text", async () => {
  const { connection, transport, notifications } = fakeConnection();
  const said = "%sessions-changed\n";
  const asked = [
    connection.command("a", "none"),
    connection.command("b"),
    connection.group(["c", "d"]).then(([, last]) => last!),
  ];
  await turn();
  expect(connection.pendingCommands).toBe(3);
  const bodies: string[] = [];
  for (const count of [1, 1, 2]) {
    for (let reply = 0; reply < count; reply += 1) transport.reply(said);
    bodies.push(Buffer.from((await asked.shift()!).body).toString());
  }
  expect([bodies, notifications.length, connection.pendingCommands]).toEqual([["", said, ""], 3, 0]);
});

test("rows of foreign text are read with the nonce that they were asked with, as tmux means them", async () => {
  const { connection, transport } = fakeConnection();
  connection.features = featuresOf("3.4");
  const rows = {
    format: (nonce: string) => `format ${nonce}`,
    decode: (body: Uint8Array, nonce: string) => [[Buffer.from(body).toString(), nonce]],
  };
  const asked = connection.foreignRows(rows, (format) => `list -F ${format}`);
  await turn();
  transport.replyForeign("%exit\n\\$HOME\n");
  const [[body, nonce] = []] = await asked;
  expect([body, transport.lines[0]]).toEqual(["%exit\n$HOME\n", `list -F format ${nonce}`]);
});

test.each([
  [{ format: "#{pane_id}", target: "%7" as PaneId }, "-t %7 ", "\\043{pane_id}"],
  [undefined, "", ""],
])("a foreign reply brings what was asked in the same step: %j", async (trailer, target, format) => {
  const { connection, transport } = fakeConnection();
  const seen: unknown[] = [];
  connection.sendForeign(
    () => "capture",
    trailer,
    (outcome, nonce) => {
      const closing = Array.from(nonce).toReversed().join("");
      expect(transport.lines).toEqual(["capture", `display-messag -p ${target}"${closing} ${format}"`]);
      seen.push(outcome);
    },
  );
  transport.replyForeign("", "%7");
  expect(seen).toEqual([{ replies: [{ body: new Uint8Array(0), trailer: "%7" }] }]);
});

test("rows of ids and numbers are those of the format that was asked for", async () => {
  const { connection, transport } = fakeConnection();
  const asked = connection.rows(PROGRAMS, (format) => `list ${format}`);
  transport.reply("@1 %1 4711 0\n@1 %2 4712 0\n");
  expect((await asked).map(({ pane, pid }) => [pane, pid])).toEqual([
    ["%1", 4711],
    ["%2", 4712],
  ]);
  expect(transport.lines).toEqual([`list ${PROGRAMS.format}`]);
});

test("tmux's own end of the connection is its end, before that of the line", () => {
  const { connection, transport, closedWith } = fakeConnection();
  expect([connection.closed, transport.closed]).toEqual([false, false]);
  transport.push("%exit server exited\n");
  expect([closedWith.length, connection.closed, transport.closed]).toEqual([1, true, true]);
});

test("a connection that is closed takes and hears nothing, and settles its callers once", async () => {
  const { connection, transport, notifications, closedWith, chunkEnds } = fakeConnection();
  const asked = connection.command("x").catch(({ code }: { code: string }) => code);
  connection.send("never written", "none", ignored);
  transport.push("%output %1 x\n");
  connection.close();
  connection.close();
  await turn();
  transport.push("%sessions-changed\n");
  expect(() => connection.send("y", "none", ignored)).toThrow(expect.objectContaining({ code: "CONNECTION_LOST" }));
  expect([await asked, connection.closed, closedWith.length, notifications]).toEqual(["CONNECTION_LOST", true, 1, []]);
  expect([transport.lines, chunkEnds()]).toEqual([["x"], 2]);
});

test("a connection that is closed hears no more of the chunk that it was closed in", () => {
  const { connection, transport, notifications, outputs, closedWith } = fakeConnection();
  const settled: string[] = [];
  connection.send("x", "ours", () => connection.close());
  connection.send("y", "ours", (outcome) => settled.push("error" in outcome ? outcome.error.code : "replied"));
  transport.push("%output %1 before\n%begin 1 101 1\n%end 1 101 1\n%output %1 after\n%sessions-changed\n%exit\n");
  expect([outputs, notifications, settled, closedWith.length]).toEqual([["%1 before"], [], ["CONNECTION_LOST"], 1]);
});

test("a reply that nobody asked for closes the connection", () => {
  const { transport, closedWith } = fakeConnection();
  transport.reply();
  expect(closedWith).toMatchObject([{ code: "PROTOCOL_ERROR" }]);
});
