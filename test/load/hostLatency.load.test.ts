/**
 * What a server on another machine costs beside the way there: input → echo over a WebSocket, beside an echo of one byte over
 * the same way, at 0 to 250 ms round trip; and the echo of a pane while another one floods. With a daemon there and without.
 * `npm run load -- hostLatency`
 */
import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { createClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { decodeStreamFrame, STREAM_BEARER_PREFIX, STREAM_PROTOCOL } from "../../protocol/api/native/nativeFrames.ts";
import { cliSandbox, type CliSandbox } from "../support/daemon/cliSandbox.ts";
import { delayedPort } from "../support/daemon/delayedPort.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { sshHost } from "../support/daemon/sshHost.ts";

const RTT_MS = [0, 1, 20, 100, 250];
const ROUNDS = Number(process.env["ROUNDS"] ?? 60);
const SERVER = "main@build";

/** One byte to an echo server and back. */
async function tcpEcho(port: number): Promise<() => Promise<number>> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.setNoDelay(true);
  return async () => {
    const startMs = performance.now();
    socket.write("x");
    await once(socket, "data");
    return performance.now() - startMs;
  };
}

/** A byte typed into a pane that echoes it, until its frame is here. */
async function paneEcho(here: CliSandbox, token: string, server: string, pane: string): Promise<() => Promise<number>> {
  const socket = new WebSocket(`ws+unix:${here.socketPath}:/v1/stream`, [
    STREAM_PROTOCOL,
    `${STREAM_BEARER_PREFIX}${token}`,
  ]);
  await once(socket, "open");
  let wake: (() => void) | undefined;
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary && decodeStreamFrame(data) !== undefined) wake?.();
    if (!isBinary && String(data).includes('"subscribed"')) wake?.();
  });
  const frame = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  const subscribed = frame();
  socket.send(JSON.stringify({ type: "subscribe", id: 1, server, pane, creditBytes: 1_000_000_000 }));
  await subscribed;
  let id = 1;
  return async () => {
    id += 1;
    const seen = frame();
    const startMs = performance.now();
    socket.send(JSON.stringify({ type: "input", id, server, pane, parts: [{ kind: "text", text: "x" }] }));
    await seen;
    return performance.now() - startMs;
  };
}

async function median(once_: () => Promise<number>, rounds = ROUNDS): Promise<ReturnType<typeof spread>> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    took.push(await once_());
    await pause(10);
  }
  return spread(took);
}

test.each([true, false])("input → echo at a distance, and beside a flood; a daemon there: %s", async (hasTmuxwire) => {
  await using host = await sshHost({ hasTmuxwire });
  await using way = await delayedPort(host.port, 0);
  await using here = cliSandbox();
  await here.serve();
  const echo = createServer((socket: Socket) => void socket.setNoDelay(true).pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  await using plain = await delayedPort((echo.address() as AddressInfo).port, 0);
  const add = ["hosts", "add", "build", "build", "--ssh-config", host.configThrough(way.port)];
  const added = await here.run(hasTmuxwire ? add : [...add, "--agentless"]);
  expect([added.code, added.stderr]).toEqual([0, ""]);
  const token = readFileSync(here.tokenPath, "utf8").trim();
  const client = createClient({ url: "http://localhost", token, fetch: unixFetch(here.socketPath) });
  const command = ["sh", "-c", "stty raw -echo; exec cat"];
  for (const server of ["main", SERVER]) await client.server(server).createSession({ name: "echo", command });
  const local = await median(await paneEcho(here, token, "main", "echo"));
  report("hostLatency", { way: "this machine", ...local });
  const there = await paneEcho(here, token, SERVER, "echo");
  const tcp = await tcpEcho(plain.port);
  for (const rttMs of RTT_MS) {
    way.delayMs = rttMs / 2;
    plain.delayMs = rttMs / 2;
    const [byTcp, byHost] = [await median(tcp), await median(there)];
    report("hostLatency", {
      daemon: hasTmuxwire,
      rttMs,
      tcp: byTcp.p50Ms,
      host: byHost.p50Ms,
      more: byHost.p50Ms - byTcp.p50Ms,
      max: byHost.maxMs,
    });
  }
  way.delayMs = 0;
  const quiet = await median(there);
  const flood = ["sh", "-c", "yes 0123456789012345678901234567890123456789012345678901234567890123456789"];
  await client.server(SERVER).createSession({ name: "flood", command: flood });
  const abort = new AbortController();
  let bytes = 0;
  const following = (async () => {
    for await (const event of client.server(SERVER).pane("flood").follow({ signal: abort.signal }))
      if (event.kind === "output") bytes += event.bytes.length;
  })().catch(() => undefined);
  await pause(1_000);
  const [startMs, before] = [performance.now(), bytes];
  const beside = await median(there, ROUNDS * 2);
  const perSec = ((bytes - before) / (performance.now() - startMs)) * 1_000;
  abort.abort();
  await following;
  report("hostLatency", {
    daemon: hasTmuxwire,
    flood: Math.round(perSec),
    quiet: quiet.p50Ms,
    beside: beside.p50Ms,
    ratio: beside.p50Ms / quiet.p50Ms,
  });
  echo.close();
});
