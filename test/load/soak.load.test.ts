/**
 * A daemon under everything its clients do, for `SOAK_SEC` seconds (20 unless told; the long form is 1800): no error, no
 * byte lost, and memory and descriptors flat over the second half.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { mib, probedDaemon, slope, type Usage } from "../support/daemon/probedDaemon.ts";
import { report } from "../support/daemon/loadReport.ts";
import { SoakLoad } from "../support/daemon/soakLoad.ts";

const SECONDS = Number(process.env["SOAK_SEC"] ?? 20);
const PANES = 20;
const SAMPLES = 60;
/** The beginning, in which everything is done at full speed, so that nothing is left that grows up to a bound. */
const HURRIED_SHARE = 0.15;
/** From here on a run is long enough for its slope to mean something; before, code is still being compiled. */
const LONG_SEC = 600;
/** Growth over the second half that is still flat: some hundredths of what there is. */
const FLAT = SECONDS >= LONG_SEC ? { rssMb: 5, heapMb: 0.5 } : { rssMb: 20, heapMb: 5 };
const MORE_DESCRIPTORS = 4;

interface Sample extends Usage {
  readonly atSec: number;
}

test(
  `${SECONDS} s of everything at once: 0 errors, memory and descriptors flat`,
  async () => {
    await using sandbox = cliSandbox();
    const daemon = await probedDaemon(sandbox);
    const atRest = await daemon.usage();
    await using load = await SoakLoad.start(daemon.url, daemon.token, PANES);
    const startMs = performance.now();
    const samples: Sample[] = [];
    const everySec = Math.max(1, SECONDS / SAMPLES);
    for (let atSec = 0; atSec <= SECONDS; atSec += everySec) {
      load.hurry = atSec < SECONDS * HURRIED_SHARE;
      await delay(Math.max(0, startMs + atSec * 1_000 - performance.now()));
      samples.push({ ...(await load.still(() => daemon.usage())), atSec });
      if (load.errors.length > 0) break;
    }
    await load.finish();
    const second = samples.slice(Math.floor(samples.length / 2));
    const halfSec = second.at(-1)!.atSec - second[0]!.atSec;
    const growth = (of: (sample: Sample) => number): number =>
      slope(second.map((sample) => [sample.atSec, of(sample)])) * halfSec;
    const most = (of: readonly Sample[]): number => Math.max(...of.map(({ descriptors }) => descriptors));
    const figures = {
      seconds: SECONDS,
      panes: PANES,
      done: load.done,
      errors: load.errors.length,
      atRestMb: mib(atRest.rss),
      rssMb: samples.map(({ rss }) => mib(rss)),
      heapMb: samples.map(({ heapUsed }) => mib(heapUsed)),
      secondHalfRssGrowthMb: mib(growth(({ rss }) => rss)),
      secondHalfHeapGrowthMb: mib(growth(({ heapUsed }) => heapUsed)),
      descriptors: samples.map(({ descriptors }) => descriptors),
      cpuShare: Math.round(samples.at(-1)!.cpuMs / SECONDS) / 1_000,
    };
    report("soak", figures);
    expect(load.errors.slice(0, 20)).toEqual([]);
    expect(Object.values(load.done).every((times) => times > 0)).toBe(true);
    expect(Object.keys(load.done)).toHaveLength(12);
    expect(daemon.running.stderr()).toBe("");
    expect(figures.secondHalfRssGrowthMb).toBeLessThan(FLAT.rssMb);
    expect(figures.secondHalfHeapGrowthMb).toBeLessThan(FLAT.heapMb);
    expect(most(second)).toBeLessThanOrEqual(most(samples.slice(0, -second.length)) + MORE_DESCRIPTORS);
  },
  SECONDS * 1_000 + 180_000,
);
