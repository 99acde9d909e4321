/** When commands are written, who else is at work, and what a lost connection says about its end. */
import { expect, test } from "vitest";
import { ControlConnection } from "../../../../daemon/connection/controlConnection.ts";
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
  const ask = async (): Promise<number> => {
    connection.send("x", "none", ignored);
    await turn();
    transport.reply();
    return connection.othersCommands;
  };
  const first = await ask();
  expect(await ask()).toBe(first);
  transport.othersDid(3);
  expect([await ask(), await ask()]).toEqual([first + 3, first + 3]);
  expect(connection.replies).toBe(4);
});

test("a connection that is closed takes and hears nothing, and settles its callers once", async () => {
  const { connection, transport, notifications, closedWith } = fakeConnection();
  const asked = connection.command("x").catch(({ code }: { code: string }) => code);
  connection.send("never written", "none", ignored);
  connection.close();
  connection.close();
  await turn();
  transport.push("%sessions-changed\n");
  expect(() => connection.send("y", "none", ignored)).toThrow(expect.objectContaining({ code: "CONNECTION_LOST" }));
  expect([await asked, connection.closed, closedWith.length, notifications]).toEqual(["CONNECTION_LOST", true, 1, []]);
  expect(transport.lines).toEqual(["x"]);
});

test("a reply that nobody asked for closes the connection", () => {
  const { transport, closedWith } = fakeConnection();
  transport.reply();
  expect(closedWith).toMatchObject([{ code: "PROTOCOL_ERROR" }]);
});
