/**
 * What it costs that a run leaves nothing behind: the same command in a line that removes itself, in one that stays because
 * the command has a control character (in dash a line end), and as it is in a shell that marks its commands. `RUNS` per shell
 * and kind (60), in turns.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { type OwnedFixture, ownedFixture } from "../support/tmux/ownedFixture.ts";
import { type NativeFixture, nativeFixture } from "../support/daemon/nativeServer.ts";
import { report, spread } from "../support/daemon/loadReport.ts";

const RUNS = Number(process.env["RUNS"] ?? 60);

let home: string;
let owned: OwnedFixture;
let marked: OwnedFixture;
let api: NativeFixture;
let markedApi: NativeFixture;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "tw-cost-"));
  mkdirSync(join(home, ".config/fish"), { recursive: true });
  mkdirSync(join(home, ".local/share/fish/generated_completions"), { recursive: true });
  for (const file of [".zshrc", ".bashrc", ".config/fish/config.fish"]) writeFileSync(join(home, file), "\n");
  const env = { ...paneEnvironment(process.env), HOME: home };
  owned = await ownedFixture({ env });
  marked = await ownedFixture({ env, shellMarks: join(import.meta.dirname, "../../daemon/shell/tmuxwire-marks") });
  api = await nativeFixture(owned.server);
  markedApi = await nativeFixture(marked.server);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await markedApi[Symbol.asyncDispose]();
  await owned[Symbol.asyncDispose]();
  await marked[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

test.each<[string, string]>([
  ["bash", "true\t"],
  ["zsh", "true\t"],
  ["dash", "true\n:"],
  ["fish", "true\t"],
])("%s", { timeout: 300_000 }, async (name, staying) => {
  for (const { server } of [owned, marked])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await server.createSession({ name, command: [name], cols: 120, rows: 40 });
  const pane = createClient({ url: api.url }).server("main").pane(name);
  const markedPane = createClient({ url: markedApi.url }).server("main").pane(name);
  const isMarked = name !== "dash";
  const tookMs = { removed: [] as number[], stays: [] as number[], marks: [] as number[] };
  for (let at = 0; at < RUNS + 5; at += 1) {
    for (const [kind, on, line, method] of [
      ["removed", pane, "true", "marker"],
      ["stays", pane, staying, "marker"],
      ["marks", markedPane, "true", isMarked ? "osc133" : "marker"],
    ] as const) {
      const fromMs = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await on.run(line)).toMatchObject({ exitCode: 0, method });
      if (at >= 5) tookMs[kind].push(performance.now() - fromMs);
    }
  }
  const [removed, stays, marks] = [spread(tookMs.removed), spread(tookMs.stays), spread(tookMs.marks)];
  const ratio = (one: typeof removed, other: typeof removed): number =>
    Math.round((one.p50Ms / other.p50Ms) * 100) / 100;
  report(`run true, ${name}`, { removed, stays, ratio: ratio(removed, stays) });
  if (isMarked) report(`run true, ${name}, marks`, { marks, removed, ratio: ratio(marks, removed) });
});
