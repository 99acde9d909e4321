/**
 * `tmuxwire restart` again and again under a pane that prints and a client that follows it: every line comes once, or is in a
 * declared gap, and prompts are typed once. `RESTARTS` (10).
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report, sinceMs, spread } from "../support/daemon/loadReport.ts";

const RESTARTS = Number(process.env["RESTARTS"] ?? 10);

test(`${RESTARTS} restarts`, { timeout: 60_000 + 15_000 * RESTARTS }, async () => {
  await using sandbox = cliSandbox();
  const daemon = await sandbox.serve(["--log-level", "warn"]);
  const token = readFileSync(sandbox.tokenPath, "utf8").trim();
  const client = createClient({ url: "http://localhost", token, fetch: unixFetch(sandbox.socketPath) }).server("main");
  const count = 'n=0; while :; do n=$((n+1)); echo "line-$n."; sleep 0.005; done';
  await client.createSession({ name: "prints", command: ["sh", "-c", count] });
  await client.createSession({ name: "shell", command: ["sh"] });
  const shell = client.pane("shell");
  await shell.wait({ prompt: true, from: "tail:1" });

  const left = new AbortController();
  const pieces: string[] = [];
  let gaps = 0;
  const following = (async () => {
    for await (const event of client.pane("prints").follow({ from: "now", signal: left.signal })) {
      if (event.kind === "output") pieces.push(Buffer.from(event.bytes).toString());
      // What stands across a gap is no line.
      else if (event.kind === "gap") gaps += pieces.push("\n<gap>\n") > 0 ? 1 : 0;
      else if (event.kind === "snapshot") pieces.push("\n<snapshot>\n");
    }
  })().catch(() => undefined);
  await eventually(() => pieces.length > 3);

  const tookMs: number[] = [];
  const prompts: string[] = [];
  for (let at = 1; at <= RESTARTS; at += 1) {
    // A delivery under way each time.
    const delivery = shell.submit(`echo prompt-${at}-$((1))`, { timeoutMs: 20_000 }).then(
      ({ outcome }) => outcome,
      (error: unknown) => String((error as { readonly code?: unknown }).code),
    );
    const fromMs = performance.now();
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { code, stderr } = await sandbox.run(["restart"]);
    tookMs.push(sinceMs(fromMs));
    expect([code, stderr]).toEqual([0, ""]);
    // oxlint-disable-next-line no-await-in-loop -- as above
    prompts.push(await delivery);
    const before = pieces.length;
    // oxlint-disable-next-line no-await-in-loop -- until the stream is back
    await eventually(() => pieces.length > before + 3);
  }
  left.abort();
  await following;

  const sections = pieces.join("").split(/\n<(?:gap|snapshot)>\n/);
  const seen = sections.flatMap((section) =>
    (section.match(/line-\d+\./g) ?? []).map((line) => Number(line.slice(5, -1))),
  );
  const twice = seen.length - new Set(seen).size;
  let missing = 0;
  for (const section of sections) {
    const numbers = (section.match(/line-\d+\./g) ?? []).map((line) => Number(line.slice(5, -1)));
    for (const [at, number] of numbers.entries()) if (at > 0) missing += number - numbers[at - 1]! - 1;
  }
  const { lines } = await shell.capture({ lines: 1_000, joined: true });
  const printed = lines.filter((line) => /^prompt-\d+-1$/.test(line));
  report("restarts", {
    restarts: RESTARTS,
    ...spread(tookMs),
    lines: seen.length,
    gaps,
    twice,
    missing,
    prompts: printed.length,
  });
  expect({ twice, missing }).toEqual({ twice: 0, missing: 0 });
  expect(gaps).toBeLessThanOrEqual(RESTARTS);
  expect(new Set(prompts)).toEqual(new Set(["submitted"]));
  expect(printed).toHaveLength(RESTARTS);
  expect(new Set(printed).size).toBe(RESTARTS);
  daemon.child.kill("SIGTERM");
  expect((await daemon.finished).code).toBe(0);
});
