/** Terminals that come and go: the first is looked at now, a burst once more. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linuxHost } from "../../../../daemon/host/linux/linuxHost.ts";
import { unknownHost } from "../../../../daemon/host/unknownHost.ts";
import { PacedProbe } from "../../../../daemon/servers/pacedProbe.ts";
import { watchTtys } from "../../../../daemon/servers/ttyWatch.ts";
import { systemClock } from "../../../../daemon/time/clock.ts";
import { TTY_PROBE_INTERVAL_MS } from "../../../../protocol/limits.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

test("a burst costs two looks", () => {
  const clock = new FakeClock();
  let probes = 0;
  const pace = new PacedProbe({ clock, intervalMs: TTY_PROBE_INTERVAL_MS, probe: () => (probes += 1) });
  for (let time = 0; time < 100; time += 1) pace.changed();
  expect(probes).toBe(1);
  clock.advanceMs(TTY_PROBE_INTERVAL_MS);
  expect(probes).toBe(2);
  clock.advanceMs(10 * TTY_PROBE_INTERVAL_MS);
  expect(probes).toBe(2);
  pace.changed();
  pace.changed();
  expect(probes).toBe(3);
  pace.clear();
  pace.clear();
  clock.advanceMs(10 * TTY_PROBE_INTERVAL_MS);
  expect(probes).toBe(3);
});

test("a host that does not report terminals is not watched", () => {
  const { terminals } = unknownHost();
  expect(watchTtys({ clock: systemClock, terminals, probe: () => undefined })).toBeUndefined();
});

test("a name that appears or goes is a reason to look", async () => {
  const directory = ownDirectory();
  let tell: () => void = () => undefined;
  let probes = 0;
  const ttys = watchTtys({
    clock: systemClock,
    terminals: linuxHost({ terminals: directory }).terminals,
    probe: () => tell(),
  });
  for (const act of [() => writeFileSync(join(directory, "5"), ""), () => rmSync(join(directory, "5"))]) {
    const probed = new Promise<void>((resolve) => (tell = resolve));
    act();
    await probed;
    probes += 1;
  }
  expect(probes).toBe(2);
  ttys?.close();
});

test("whoever asks for what goes only is not told of what comes", async () => {
  const directory = ownDirectory();
  let [probes, everyLook] = [0, 0];
  let onProbe = (): void => undefined;
  const gone = watchTtys({
    clock: systemClock,
    terminals: linuxHost({ terminals: directory }).terminals,
    isReason: (what) => what === "gone",
    probe: () => (probes += 1),
  });
  const every = watchTtys({
    clock: systemClock,
    terminals: linuxHost({ terminals: directory }).terminals,
    probe: () => {
      everyLook += 1;
      onProbe();
    },
  });
  for (const [act, expected] of [
    [() => writeFileSync(join(directory, "5"), ""), 0],
    [() => rmSync(join(directory, "5")), 1],
  ] as const) {
    const probed = new Promise<void>((resolve) => (onProbe = resolve));
    act();
    await probed;
    // Both are told in the same turn or the next.
    await new Promise((resolve) => setImmediate(resolve));
    expect(probes).toBe(expected);
  }
  expect(everyLook).toBe(2);
  gone?.close();
  every?.close();
});
