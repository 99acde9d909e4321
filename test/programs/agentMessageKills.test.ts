/**
 * A daemon that is killed (SIGKILL) while it types a message to an agent: the next one finds out what became of it, and
 * never types it a second time unless Enter was never pressed.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { DatabaseSync } from "../../daemon/ops/sql/sqlite.ts";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { claudeLine } from "../support/agents/messagesScene.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";

interface Noted {
  readonly typed: number | null;
  readonly entered: number | null;
}

/** When the daemon is killed. `unread`: Enter is written, and the program gets no time to read it before the next daemon looks. */
const MOMENTS = ["typed", "unread", "entered", "submitted"] as const;
/** Longer than the next daemon takes to start and to look. */
const STALL_MS = 8_000;

test.each(MOMENTS)("a daemon killed once a message is %s types it no second time", async (moment) => {
  await using socket = privateSocket();
  await using sandbox = cliSandbox();
  await using channel = await AgentChannel.open(socket.directory);
  const options = { busyMs: 300, ...(moment === "unread" ? { stallMs: STALL_MS } : {}) };
  const line = claudeLine(socket.directory, channel, "dialog", options);
  socket.tmux("new-session", "-d", "-s", "work", "-x", "100", "-y", "30", `sh -c '${line}; exec sh'`);
  await channel.next("ready");
  const serve = () => sandbox.serve([], { env: { TMUXWIRE_SERVERS: `user=${socket.socketPath}` } });
  const first = await serve();
  const token = readFileSync(sandbox.tokenPath, "utf8").trim();
  const client = createClient({ url: "http://localhost", token, fetch: unixFetch(sandbox.socketPath) });
  await eventually(async () => (await client.agents({ server: "user" })).some(({ state }) => state === "ready"));
  const [agent] = await client.agents({ server: "user" });
  using database = new DatabaseSync(sandbox.path("state/tmuxwire/agents.db"), { readOnly: true });
  const notes = database.prepare("SELECT typed_unix_ms AS typed, entered_unix_ms AS entered FROM messages");
  const noted = (): Noted | undefined => notes.get() as Noted | undefined;
  await client.tell(agent!.id, "only once");
  if (moment === "submitted") await channel.next("submit");
  else await eventually(() => (moment === "typed" ? noted()?.typed : noted()?.entered) != null, 1);
  first.child.kill("SIGKILL");
  await first.finished;
  await serve();
  const outcome = async () => (await client.messages())[0]?.outcome;
  await eventually(async () => (await outcome()) !== "waiting");
  // What the first daemon had not written when it was killed stands in the box: a person removes it.
  if ((await outcome()) === "unknown") socket.tmux("send-keys", "-t", "work", "C-u");
  await client.tell(agent!.id, "the last", { wait: "taken" });
  const submits = channel.submits();
  const times = submits.filter((text) => text === "only once").length;
  expect(times).toBeLessThan(2);
  expect(submits).toEqual([...Array<string>(times).fill("only once"), "the last"]);
  // Where nothing tells whether the text was written, it is unknown and not typed again.
  if (moment === "submitted") expect([await outcome(), times]).toEqual(["delivered", 1]);
  else expect((await outcome()) === "delivered").toBe(times === 1);
  // Its timeline tells of what was taken, once.
  const { entries } = await client.timeline({ agent: agent!.id, kind: "prompt" });
  expect(entries.map(({ text, by, outcome: taken }) => [text, by, taken])).toEqual(
    submits.toReversed().map((text) => [text, "message", "taken"]),
  );
  expect((await client.timeline({ kind: "started" })).entries).toHaveLength(1);
});
