/**
 * `/livez` beside 200 waits on four panes that print 50 kB/s each: literals, and regexes that hurt, which are asked for again
 * AGAIN_AFTER_MS (1000) after they were ended as too slow.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { livez } from "../support/daemon/livez.ts";
import { report } from "../support/daemon/loadReport.ts";
import { probedDaemon } from "../support/daemon/probedDaemon.ts";

const WAITS = 200;
const PANES = 4;
const AGAIN_AFTER_MS = Number(process.env["AGAIN_AFTER_MS"] ?? 1_000);
const SECONDS = Number(process.env["SOAK_SEC"] ?? 10);
/** Far above the goal: a machine that is busy with other things must not fail here. */
const MAX_P99_MS = 200;
/** Ten times a second 5 kB, and text that lets a regex backtrack. */
const LINE = "line %.0f of a build that prints what it does, as long as a usual line is there";
const PRINTS = `stty -echo; x=$(printf 'a%.0s' $(seq 300)); while :; do seq -f '${LINE}' 60; echo "$x!"; echo "$x $x $x"; sleep .1; done`;

const HOSTILE = [
  (at: number) => `(a|aa)+${at}$`,
  (at: number) => `(.*)(.*)(.*)(.*)x${at}z`,
  (at: number) => `.{0,100}Q${at}`,
  (at: number) => `(?:.{1,10}){1,10}Q${at}`,
  (at: number) => `(?:.?){100}Q[0-9]{1,${at + 1}}`,
  (at: number) => `(?:.{0,50}x){2}Q${at}`,
  (at: number) => `^(([a-z])+.)+[A-Z]([a-z])+${at}$`,
];

test.each([
  ["nothing", () => undefined],
  ["literals", (at: number) => ({ literal: `never said ${at}` })],
  ["hostile regexes", (at: number) => ({ regex: HOSTILE[at % HOSTILE.length]!(at) })],
])(
  `200 waits: %s`,
  async (name, patternAt) => {
    await using sandbox = cliSandbox();
    const daemon = await probedDaemon(sandbox);
    const server = createClient(daemon).server("main");
    for (let at = 0; at < PANES; at += 1)
      await server.createSession({ name: `printing-${at}`, command: ["sh", "-c", PRINTS] });
    const over = new AbortController();
    const ends: Record<string, number> = {};
    const count = (error: unknown): void => {
      const code = over.signal.aborted ? "given up" : ((error as { code?: string }).code ?? String(error));
      ends[code] = (ends[code] ?? 0) + 1;
    };
    const waitOn = async (at: number): Promise<void> => {
      const pattern = patternAt(at);
      if (pattern === undefined) return;
      while (!over.signal.aborted) {
        const request = { pattern, timeoutMs: (SECONDS + 60) * 1_000 };
        await server
          .pane(`printing-${at % PANES}`)
          .wait(request, { signal: over.signal })
          .catch(count);
        if (!over.signal.aborted) await delay(AGAIN_AFTER_MS);
      }
    };
    const endLivez = await livez(daemon.url);
    const waits = Array.from({ length: WAITS }, (_, at) => waitOn(at));
    await delay(SECONDS * 1_000);
    const took = await endLivez();
    over.abort();
    await Promise.all(waits);
    report("livez beside waits", { waits: name, ...took, ends });
    expect(took.livez.p99Ms).toBeLessThan(MAX_P99_MS);
  },
  (SECONDS + 60) * 1_000,
);
