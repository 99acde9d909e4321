/** The inventory, folded from notifications, is what tmux lists, whoever changed it. */
import { expect, test } from "vitest";
import type { ServerEvent } from "../../daemon/tmux/inventory.ts";
import { eventually } from "../support/clock/eventually.ts";
import { believed, drift, listed } from "../support/tmux/inventoryScenario.ts";
import { collectUntil } from "../support/tmux/output.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { script, startProgram, text } from "../support/tmux/panePrograms.ts";

test.each([1, 2, 3])("random operations by another client, seed %i", async (seed) => {
  await using fixture = await ownedFixture();
  await drift(fixture.server, fixture.socket, seed, 40);
  expect(fixture.log).toEqual([]);
});

test("a pane that moves to another window is never reported as closed, and its stream goes on", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const moving = await startProgram(server, "one", ["sh", "-c", "stty raw -echo; printf 'ready;'; exec cat"]);
  const other = await startProgram(server, "two", ["sh", "-c", "stty raw -echo; printf 'ready;'; exec cat"]);
  const events: ServerEvent[] = [];
  server.subscribe((event) => events.push(event));
  const moves = [
    ["join-pane", "-d", "-s", moving.pane, "-t", other.pane],
    ["break-pane", "-d", "-s", moving.pane],
    ["swap-pane", "-d", "-s", moving.pane, "-t", other.pane],
    ["join-pane", "-d", "-s", other.pane, "-t", moving.pane],
  ];
  for (const [index, move] of moves.entries()) {
    socket.tmux(...move);
    await eventually(() => believed(server).join("\n") === listed(socket).join("\n"));
    const from = moving.source.outputSeq;
    const echo = collectUntil(moving.source, from, (bytes) => bytes.includes(`${index};`));
    await server.input(moving.pane, [text(`${index};`)]);
    expect((await echo).toString()).toBe(`${index};`);
  }
  expect(events.filter((event) => event.kind === "pane-closed")).toEqual([]);
});

test("titles are followed, and a program that changes its title without end costs little", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const titled = await startProgram(
    server,
    "titled",
    script(
      `process.stdin.on("data", (d) => { const n = Number(d); let all = "";` +
        `for (let i = 1; i <= n; i++) all += "\\x1b]" + (i & 2) + ";title " + i + "\\x07"; process.stdout.write(all); });` +
        `process.stdout.write("ready;");`,
    ),
  );
  const titleIs = (title: string) => eventually(() => server.findPane(titled.pane)?.title === title);
  await server.input(titled.pane, [text("1")]);
  await titleIs("title 1");
  await server.input(titled.pane, [text("20000")]);
  await titleIs("title 20000");
  socket.tmux("select-pane", "-t", titled.pane, "-T", "by hand");
  await titleIs("by hand");
  const panes = socket.tmux("list-panes", "-a", "-F", "#{pane_id}").trim().split("\n");
  expect(panes).toHaveLength(3);
});

test("sessions of other clients are in the hub before their first byte", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  for (let index = 0; index < 40; index += 1) {
    const pane = socket.tmux(
      "new-session",
      "-d",
      "-s",
      `other${index}`,
      "-P",
      "-F",
      "#{pane_id}",
      `printf 'first byte ${index};'; exec cat`,
    );
    await eventually(() => server.findSession(`other${index}`)?.activePane === pane.trim());
    const source = server.output(server.findSession(`other${index}`)!.activePane!);
    const all = await collectUntil(source, 0, (bytes) => bytes.includes(";"));
    expect(all.toString()).toBe(`first byte ${index};`);
  }
  expect(server.sessions()).toHaveLength(40);
});
