// oxlint-disable typescript/no-unsafe-assignment -- plain JavaScript: messages and the compiled client have no types
/**
 * The other side of many chattering panes, in a process of its own: prints in every pane ten times a second through its
 * terminal, evenly spread or all at once, and follows all of them over one WebSocket. `{bursts, seconds}` gets back the
 * panes whose followers did not get exactly what was printed.
 */
import { openSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";

const [, , dist, url, token] = process.argv;
const { createClient } = await import(new URL("adapters/client/client.js", dist).href);
const PERIOD_MS = 100;
/** Turns into which a period is cut when the panes are not to speak all at once. */
const SLICES = 25;
const CATCH_UP_MS = 10_000;

const panes = [];
const socket = createClient({ url, token }).openSocket({ WebSocket });

async function follow({ name, tty }) {
  const pane = { name, fd: openSync(tty, "w"), said: 0, wanted: "", got: "" };
  panes.push(pane);
  const events = socket.follow("main", name);
  const first = await events.next();
  if (first.value.kind !== "open") throw new Error(`${name}: ${first.value.kind}`);
  void (async () => {
    for await (const event of events) {
      pane.got += event.kind === "output" ? Buffer.from(event.bytes).toString("latin1") : `(${event.kind})`;
    }
  })();
}

function say(pane) {
  pane.said += 1;
  const line = `${pane.name} says ${pane.said}`;
  writeSync(pane.fd, `${line}\n`);
  pane.wanted += `${line}\r\n`;
}

async function chatter({ bursts, seconds }) {
  const slices = bursts === true ? 1 : SLICES;
  const startMs = performance.now();
  for (let turn = 0; turn < (seconds * 1_000 * slices) / PERIOD_MS; turn += 1) {
    for (let index = turn % slices; index < panes.length; index += slices) say(panes[index]);
    await delay(Math.max(0, startMs + ((turn + 1) * PERIOD_MS) / slices - performance.now()));
  }
  const endMs = performance.now() + CATCH_UP_MS;
  // Nothing says that the last of several streams has been read.
  while (panes.some(({ wanted, got }) => wanted !== got) && performance.now() < endMs) await delay(10);
  return panes.filter(({ wanted, got }) => wanted !== got).map(({ name }) => name);
}

async function answer(message) {
  if (message.panes === undefined) return chatter(message);
  for (const pane of message.panes) await follow(pane);
  return [];
}

// What fails ends this process, and with it the test.
process.on("message", (message) => void answer(message).then((wrong) => process.send({ wrong })));
process.on("disconnect", () => process.exit(0));
