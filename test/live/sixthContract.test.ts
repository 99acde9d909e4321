/** The example of a contract of one's own (docs/examples/sixthContract) on real tmux, and that it stays small. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Listener } from "../../adapters/kit/listeners/listen.ts";
import { silentLog } from "../../bench/silentLog.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { serveScribe } from "../../docs/examples/sixthContract/scribeApp.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { type RunningBackend, tmuxBackend } from "../support/daemon/backends.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../docs/examples/sixthContract");

let running: RunningBackend;
let listener: Listener;
let pane: PaneId;

beforeAll(async () => {
  running = await tmuxBackend.start();
  listener = await serveScribe({ server: running.server, token: "t0ken", clock: systemClock, log: silentLog }, 0);
  const session = await running.server.createSession({ name: "work", command: ["cat"] });
  pane = session.activePane!;
});

afterAll(async () => {
  await listener.close();
  await running.close();
});

const ask = (path: string, init: { line?: string; key?: string; token?: string } = {}): Promise<Response> =>
  fetch(`${listener.url}/scribe/panes${path}`, {
    headers: {
      authorization: `Bearer ${init.token ?? "t0ken"}`,
      ...(init.key === undefined ? {} : { "idempotency-key": init.key }),
      ...(init.line === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(init.line === undefined ? {} : { method: "POST", body: JSON.stringify({ line: init.line }) }),
  });

test("it lists panes, types a line once per key, and streams the output", async () => {
  const { panes } = (await (await ask("")).json()) as { panes: readonly { pane: string }[] };
  expect(panes.map((row) => row.pane)).toContain(pane);
  const one = `/${pane.slice(1)}`;
  const stream = await ask(`${one}/output`);
  const first = await ask(`${one}/lines`, { line: "written-once", key: "k-1" });
  const again = await ask(`${one}/lines`, { line: "written-once", key: "k-1" });
  expect([first.status, again.status, await again.json()]).toEqual([201, 201, await first.json()]);
  const other = await ask(`${one}/lines`, { line: "other", key: "k-1" });
  expect([other.status, await other.json()]).toMatchObject([409, { code: "ALREADY_EXISTS" }]);
  expect((await ask(`${one}/lines`, { line: "the-last" })).status).toBe(201);
  // The terminal's echo and what cat prints: two of each line that was typed.
  const output = await outputUntil(stream, (text) => text.split("the-last").length > 2);
  expect(output.split("written-once")).toHaveLength(3);
});

test("it refuses as the other contracts do", async () => {
  const refused = async (path: string, init = {}) => {
    const response = await ask(path, init);
    return [response.status, ((await response.json()) as { code: string }).code];
  };
  expect(await refused("", { token: "wrong" })).toEqual([401, "UNAUTHORIZED"]);
  expect(await refused("/99999/output")).toEqual([404, "NOT_FOUND"]);
  expect(await refused(`/${pane.slice(1)}/lines`, { line: "two\nlines" })).toEqual([400, "INVALID_ARGUMENT"]);
});

test("it takes at most 250 lines", () => {
  const files = readdirSync(EXAMPLE).filter((name) => name.endsWith(".ts"));
  const lines = files.flatMap((name) => readFileSync(join(EXAMPLE, name), "utf8").trimEnd().split("\n"));
  expect(lines.length).toBeLessThanOrEqual(250);
});

/** The stream's output as text, until it is enough. */
async function outputUntil(response: Response, isEnough: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder();
  let [events, output] = ["", ""];
  for await (const chunk of response.body!) {
    events += decoder.decode(chunk as Uint8Array, { stream: true });
    const whole = events.lastIndexOf("\n\n");
    if (whole < 0) continue;
    for (const [, data = ""] of events.slice(0, whole + 1).matchAll(/^event: output\ndata: (.*)$/gm)) {
      output += Buffer.from(data, "base64").toString("latin1");
    }
    events = events.slice(whole + 2);
    if (isEnough(output)) return output;
  }
  return output;
}
