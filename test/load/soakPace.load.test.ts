/**
 * What a daemon holds at a steady pace, for `SOAK_SEC` seconds (20 unless told; the long form is 1200): four panes that print
 * 200 kB/s each, 20 waits and 5 captures a second, and a pane split and ended each second. Memory as the system counts it,
 * without a collection that is asked for.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report } from "../support/daemon/loadReport.ts";
import { mib, probedDaemon, slope } from "../support/daemon/probedDaemon.ts";

const SECONDS = Number(process.env["SOAK_SEC"] ?? 20);
const PRINTING = 4;
const WAITS_PER_SEC = 20;
const CAPTURES_PER_SEC = 5;
/** What a long run settles at from here on. */
const SETTLED_SEC = 300;
/** With V8's own new space it is 131 after twenty minutes, with ours (`DAEMON_NODE_FLAGS`) 96. */
const MAX_MB = 110;
/** A minute, from `SETTLED_SEC` on. */
const MAX_GROWTH_MB = 1;

/** 20 kB ten times a second, each line with its number. */
const PRINTS = `n=0; while :; do seq -f 'line %.0f of a build that prints what it does, as long as a usual line is there' $n $((n+249)); n=$((n+250)); sleep .1; done`;

test(
  "four panes at 200 kB/s, waits, captures and splits",
  async () => {
    await using sandbox = cliSandbox();
    const daemon = await probedDaemon(sandbox);
    const server = createClient(daemon).server("main");
    const rssMb = (): number =>
      mib(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.running.pid}/status`, "utf8"))?.[1]) * 1_024);
    const atRestMb = rssMb();
    const names = Array.from({ length: PRINTING }, (_, at) => `printing-${at}`);
    for (const name of names) await server.createSession({ name, command: ["sh", "-c", PRINTS] });
    await server.createSession({ name: "split", command: ["cat"] });

    const over = new AbortController();
    const done: Record<string, number> = {};
    const work: Promise<void>[] = [];
    /** So many turns a second, each on its own: a slow one delays none. */
    const each = (name: string, perSec: number, turn: (at: number) => Promise<unknown>): void => {
      const turns = async (): Promise<void> => {
        const under = new Set<Promise<unknown>>();
        const startMs = performance.now();
        for (let at = 0; !over.signal.aborted; at += 1) {
          const turned = turn(at).then(() => (done[name] = (done[name] ?? 0) + 1));
          under.add(turned);
          void turned.finally(() => under.delete(turned));
          await delay(Math.max(0, startMs + ((at + 1) * 1_000) / perSec - performance.now()));
        }
        await Promise.all(under);
      };
      work.push(turns());
    };
    const paneAt = (at: number) => server.pane(names[at % PRINTING]!);
    each("wait", WAITS_PER_SEC, (at) =>
      paneAt(at).wait({
        pattern: at % 2 === 0 ? { literal: "of a build" } : { regex: "line \\d+7 of" },
        timeoutMs: 20_000,
      }),
    );
    each("capture", CAPTURES_PER_SEC, (at) => paneAt(at).capture({ lines: 200 }));
    // As a user does: the daemon is only told of it.
    const split = (): string =>
      sandbox.tmux(sandbox.tmuxSocketPath, "split-window", "-dPF", "#{pane_id}", "-t", "split", "cat").trim();
    let made = split();
    each("split", 1, async () => {
      sandbox.tmux(sandbox.tmuxSocketPath, "kill-pane", "-t", made);
      made = split();
    });
    let heard = 0;
    const follow = async (name: string): Promise<void> => {
      const events = server.pane(name).follow({ signal: over.signal });
      for await (const event of events) if (event.kind === "output") heard += event.bytes.length;
    };
    const followers = names.map((name) =>
      follow(name).catch((error: unknown) => over.signal.aborted || Promise.reject(error as Error)),
    );

    const points: (readonly [minute: number, mb: number])[] = [];
    const startMs = performance.now();
    const elapsedSec = (): number => (performance.now() - startMs) / 1_000;
    const everySec = Math.min(30, SECONDS / 10);
    while (elapsedSec() < SECONDS) {
      await delay(everySec * 1_000);
      points.push([elapsedSec() / 60, rssMb()]);
      if (SECONDS > 60)
        report("memory at a pace, so far", { minute: Math.round(elapsedSec() / 6) / 10, rssMb: rssMb() });
    }
    over.abort();
    await Promise.all(work);
    await Promise.all(followers);
    const settled = points.filter(([minute]) => minute * 60 >= SETTLED_SEC);
    const mostMb = Math.max(...points.map(([, mb]) => mb));
    const perMinuteMb = settled.length > 2 ? Math.round(slope(settled) * 100) / 100 : undefined;
    report("memory at a pace", {
      seconds: SECONDS,
      atRestMb,
      mostMb,
      lastMb: points.at(-1)?.[1],
      perMinuteMb,
      done,
      heardMb: mib(heard),
    });
    expect(done["wait"]).toBeGreaterThan(SECONDS * WAITS_PER_SEC * 0.5);
    expect(mostMb).toBeLessThanOrEqual(MAX_MB);
    if (perMinuteMb !== undefined) expect(perMinuteMb).toBeLessThanOrEqual(MAX_GROWTH_MB);
  },
  (SECONDS + 120) * 1_000,
);
