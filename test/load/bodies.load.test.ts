/**
 * Bodies that come all at once: the daemon's memory stays bounded, `/livez` is answered meanwhile, and what was accepted is
 * exactly what the pane's program reads. Clients are processes of their own, so that only the daemon is measured.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { livez } from "../support/daemon/livez.ts";
import { report } from "../support/daemon/loadReport.ts";
import { mib, probedDaemon } from "../support/daemon/probedDaemon.ts";

const MAX_GROWTH_MB = 200;
const BYTES = 1_048_576;

type Probed = Awaited<ReturnType<typeof probedDaemon>>;

/** Peak of what it has held, and what it holds. */
function memoryOf({ running }: Probed): { readonly peak: number; readonly now: number } {
  const status = readFileSync(`/proc/${running.pid}/status`, "utf8");
  const bytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1_024;
  return { peak: bytes("VmHWM"), now: bytes("VmRSS") };
}

/** How long a client waits for its response: tmux takes the worst body, of hexadecimal bytes alone, in some ten seconds. */
const PATIENCE_SEC = 60;

/** Uploads a file; the status, `000` when the client gave up. */
async function curl(daemon: Probed, path: string, file: string): Promise<string> {
  const headers = ["-H", `authorization: Bearer ${daemon.token}`, "-H", "content-type: application/json"];
  const args = [
    "-s",
    "-m",
    `${PATIENCE_SEC}`,
    "-o",
    "/dev/null",
    "-w",
    "%{http_code}",
    ...headers,
    "--data-binary",
    `@${file}`,
  ];
  const child = spawn("curl", [...args, `${daemon.url}${path}`], { stdio: ["ignore", "pipe", "inherit"] });
  const [status] = await Promise.all([text(child.stdout), once(child, "close")]);
  return status;
}

/** A session whose program writes what it reads into a file. */
async function reader(sandbox: CliSandbox, daemon: Probed, name: string): Promise<string> {
  const { url, token } = daemon;
  const file = sandbox.path(`${name}.read`);
  const server = createClient({ url, token }).server("main");
  await server.createSession({ name, command: ["sh", "-c", `stty raw -echo; echo ready; exec cat > ${file}`] });
  await server.pane(name).wait({ pattern: { literal: "ready" }, from: "tail:10" });
  return file;
}

const upload = (letter: string): string => JSON.stringify({ parts: [{ kind: "text", text: letter.repeat(BYTES) }] });

test.each([
  [1, 40],
  [40, 40],
])("%i panes, 40 inputs of 1 MiB at once", async (panes, uploads) => {
  await using sandbox = cliSandbox();
  const daemon = await probedDaemon(sandbox);
  const files: string[] = [];
  for (let at = 0; at < panes; at += 1) files.push(await reader(sandbox, daemon, `pane-${at}`));
  const letters = Array.from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz").slice(0, uploads);
  for (const letter of letters) writeFileSync(sandbox.path(letter), upload(letter));
  const before = memoryOf(daemon).now;
  const endLivez = await livez(daemon.url);
  const statuses = await Promise.all(
    letters.map((letter, at) => curl(daemon, `/v1/servers/main/panes/pane-${at % panes}/input`, sandbox.path(letter))),
  );
  const live = await endLivez();
  expect(new Set(statuses)).toEqual(new Set(["200", "429"]));
  const accepted = letters.filter((_letter, at) => statuses[at] === "200");
  await eventually(() => files.reduce((sum, file) => sum + statSync(file).size, 0) >= accepted.length * BYTES);
  // Each whole, in one piece, and nothing else.
  const runs = files.flatMap((file) => readFileSync(file, "latin1").match(/(.)\1*/gs) ?? []);
  expect(runs.map((run) => digest(run)).toSorted()).toEqual(
    accepted.map((letter) => digest(letter.repeat(BYTES))).toSorted(),
  );
  const grownMb = mib(memoryOf(daemon).peak - before);
  report(`${panes} panes, ${uploads} inputs of 1 MiB at once`, { grownMb, accepted: accepted.length, ...live });
  expect(grownMb).toBeLessThanOrEqual(MAX_GROWTH_MB);
});

const digest = (run: string): string => `${run[0]} ${createHash("sha256").update(run).digest("hex")}`;

const items = (item: string, bytes: number): string =>
  `[${item},`.padEnd(bytes, `${item},`).replace(/,?[^,]*$/, `,${item}]`);

/** What costs most to keep, or to make something of. */
const HOSTILE: Readonly<Record<string, string>> = {
  "empty objects": items("{}", 2_000_000),
  numbers: `{"parts":${items("1", 1_999_000)}}`,
  "parts of a character": `{"parts":${items('{"kind":"text","text":"a"}', 1_999_000)}}`,
  "a NUL after each letter": JSON.stringify({
    parts: [{ kind: "text", base64: Buffer.from("a\0".repeat(BYTES / 2)).toString("base64") }],
  }),
  // Two bytes each in JSON, and the body's limit is 2 MiB.
  "newlines alone": JSON.stringify({ parts: [{ kind: "text", text: "\n".repeat(BYTES - 64) }] }),
};

test.each(Object.keys(HOSTILE))("200 bodies at once of %s", async (name) => {
  await using sandbox = cliSandbox();
  const daemon = await probedDaemon(sandbox);
  await reader(sandbox, daemon, "pane");
  const file = sandbox.path("body");
  writeFileSync(file, HOSTILE[name] ?? "");
  const before = memoryOf(daemon).now;
  const endLivez = await livez(daemon.url);
  const statuses = await Promise.all(
    Array.from({ length: 200 }, () => curl(daemon, "/v1/servers/main/panes/pane/input", file)),
  );
  const live = await endLivez();
  const grownMb = mib(memoryOf(daemon).peak - before);
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  report(`200 bodies at once of ${name}`, { grownMb, counts, ...live });
  expect(["200", "400", "429"]).toEqual(expect.arrayContaining(Object.keys(counts)));
  expect(grownMb).toBeLessThanOrEqual(MAX_GROWTH_MB);
});
