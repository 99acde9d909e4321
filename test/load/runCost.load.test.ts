/**
 * What it costs that a run leaves nothing behind: the same command in a line that removes itself, and in one that stays because
 * the command has a control character (in dash a line end). `RUNS` per shell and kind (60), in turns.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { type OwnedFixture, ownedFixture } from "../support/tmux/ownedFixture.ts";
import { type NativeFixture, nativeFixture } from "../support/daemon/nativeServer.ts";
import { report, spread } from "../support/daemon/loadReport.ts";

const RUNS = Number(process.env["RUNS"] ?? 60);

let owned: OwnedFixture;
let api: NativeFixture;
beforeAll(async () => {
  owned = await ownedFixture();
  api = await nativeFixture(owned.server);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await owned[Symbol.asyncDispose]();
});

test.each<[string, readonly string[], string]>([
  ["bash", ["bash", "--norc", "--noprofile"], "true\t"],
  ["zsh", ["zsh", "-f"], "true\t"],
  ["dash", ["dash"], "true\n:"],
  ["fish", ["fish", "--no-config"], "true\t"],
])("%s", { timeout: 300_000 }, async (name, command, staying) => {
  await owned.server.createSession({ name, command, cols: 120, rows: 40 });
  const pane = createClient({ url: api.url }).server("main").pane(name);
  const tookMs = { removed: [] as number[], stays: [] as number[] };
  for (let at = 0; at < RUNS + 5; at += 1) {
    for (const [kind, line] of [
      ["removed", "true"],
      ["stays", staying],
    ] as const) {
      const fromMs = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await pane.run(line)).toMatchObject({ exitCode: 0, method: "marker" });
      if (at >= 5) tookMs[kind].push(performance.now() - fromMs);
    }
  }
  const [removed, stays] = [spread(tookMs.removed), spread(tookMs.stays)];
  report(`run true, ${name}`, { removed, stays, ratio: Math.round((removed.p50Ms / stays.p50Ms) * 100) / 100 });
});
