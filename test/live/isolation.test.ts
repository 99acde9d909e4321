/** One subscriber, one person, one pause: nobody else notices (docs/tmuxFacts.md 13, 26, 31). */
import { spawn } from "@homebridge/node-pty-prebuilt-multiarch";
import { expect, test } from "vitest";
import type { Gap } from "../../protocol/position.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ownHub } from "../support/tmux/failureScenarios.ts";
import { follow } from "../support/tmux/output.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { ByteSink, startProgram, text } from "../support/tmux/panePrograms.ts";

const echo = ["sh", "-c", "stty raw -echo; printf 'ready;'; exec cat"] as const;

test("a pane that tmux pauses has a declared gap and continues", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const program = await startProgram(server, "paused", echo);
  const gaps: Gap[] = [];
  let after = "";
  follow(
    program.source,
    program.startSeq,
    (bytes) => (after += Buffer.from(bytes).toString()),
    (gap) => gaps.push(gap),
  );
  socket.tmux("refresh-client", "-t", ownHub(socket).client, "-A", `${program.pane}:pause`);
  await eventually(() => gaps.length === 1);
  expect(gaps).toMatchObject([{ reason: "paused" }]);
  await server.input(program.pane, [text("goes on;")]);
  await eventually(() => after === "goes on;");
  const { lines, position } = await server.capture(program.pane);
  expect(lines).toEqual(["ready;goes on;"]);
  expect(position.outputSeq).toBe(program.source.outputSeq);
  expect(server.counters().pauses).toBe(1);
});

test("modes are left before typing: copy mode, choose-tree", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const sink = await ByteSink.start(server, socket.directory, "modes");
  let bytes = 0;
  for (const mode of [["copy-mode"], ["choose-tree"], ["clock-mode"], ["copy-mode", "-u"]]) {
    socket.tmux(...mode, "-t", sink.pane);
    expect(socket.tmux("display-message", "-p", "-t", sink.pane, "#{pane_in_mode}").trim()).not.toBe("0");
    await server.input(sink.pane, [text("typed")]);
    bytes += 5;
    expect((await sink.received(bytes)).toString().slice(-5)).toBe("typed");
  }
});

test("a long paste has its brackets while somebody scrolls", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const sink = await ByteSink.start(server, socket.directory, "scrolls", "\u001b[?2004h");
  const scrolls = 'while tmux -S "$0" copy-mode -t "$1"; do :; done';
  const person = spawn("sh", ["-c", scrolls, socket.socketPath, sink.pane], {
    env: { PATH: process.env["PATH"] ?? "" },
  });
  await eventually(() => socket.tmux("display-message", "-p", "-t", sink.pane, "#{pane_in_mode}") === "1\n");
  const typed = "a line\n".repeat(60_000);
  await server.input(sink.pane, [{ kind: "paste", bytes: Buffer.from(typed) }]);
  person.kill();
  expect((await sink.received(typed.length)).subarray(0, 6).toString()).toBe("\u001b[200~");
});

test("a person at a terminal of their own keeps their size and their place", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const program = await startProgram(server, "shared", echo);
  const person = spawn("tmux", ["-u", "-S", socket.socketPath, "attach-session", "-t", "=shared"], {
    cols: 133,
    rows: 41,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color" },
  });
  let screen = "";
  person.onData((data) => (screen += data));
  await eventually(() => server.findPane(program.pane)?.cols === 133);
  await server.createSession({ name: "another", command: ["cat"], cols: 60, rows: 20 });
  await server.input(program.pane, [text("shown to both;")]);
  await eventually(() => screen.includes("shown to both;"));
  await server.capture(program.pane, { lines: 100 });
  const client = socket.tmux("list-clients", "-t", "=shared", "-F", "#{client_width}x#{client_height} #{session_name}");
  expect(client).toBe("133x41 shared\n");
  expect(server.findPane(program.pane)).toMatchObject({ cols: 133, rows: 41 });
  expect(server.sessions().map(({ name }) => name)).toEqual(["another", "shared"]);
  expect(screen).not.toContain("tmuxwire");
  person.kill();
});
