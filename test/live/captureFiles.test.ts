/** Long captures through a file that tmux writes: the same as over the connection, and nothing of them stays. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linuxHost } from "../../daemon/host/linux/linuxHost.ts";
import { CaptureFiles } from "../../daemon/panes/captureFiles.ts";
import type { CaptureOptions } from "../../daemon/tmux/io.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";
import { type Program, script, startProgram } from "../support/tmux/panePrograms.ts";

const MEMORY = "/dev/shm";
const host = linuxHost();
const hasMemory = host.memory() !== undefined;
if (!hasMemory) console.warn(`captureFiles: skipped, ${MEMORY} is not in memory here`);
/** Nobody, for longer than the test runs. */
const GONE = 999_999_999;

let memory: string;
/** Where the files are. */
let folder: string;
let fixture: OwnedFixture;
let program: Program;

/** Wide characters, colours, TABs, rows of blanks, rows that wrap, at the end too. */
const PRINTED = `
  const rows = Array.from({ length: 2500 }, (_, at) =>
    ["line " + at, "\\u65e5\\u672c " + at + "\\tx", "\\x1b[31mred " + at + "\\x1b[0m  ", "", "w".repeat(95) + at][at % 5]);
  process.stdout.write(rows.join("\\r\\n") + "\\x1b]ready;\\x07");
  process.stdin.on("data", (data) => process.stdout.write(data));`;

beforeAll(async () => {
  if (!hasMemory) return;
  memory = mkdtempSync(join(MEMORY, "tmuxwire-test-"));
  folder = join(memory, `tmuxwire-${process.getuid?.()}`);
  fixture = await ownedFixture({ host: { ...host, memory: () => memory } });
  program = await startProgram(fixture.server, "long", script(PRINTED), { cols: 40, rows: 10 });
});

afterAll(async () => {
  if (!hasMemory) return;
  await fixture[Symbol.asyncDispose]();
  rmSync(memory, { recursive: true, force: true });
});

const capture = (options: CaptureOptions) => fixture.server.capture(program.pane, options);

/** The same program's, over the connection. */
async function overTheConnection(options: CaptureOptions) {
  await using other = await ownedFixture({ host: { ...host, memory: () => undefined } });
  const same = await startProgram(other.server, "long", script(PRINTED), { cols: 40, rows: 10 });
  const { position: _position, ...captured } = await other.server.capture(same.pane, options);
  return captured;
}

test
  .skipIf(!hasMemory)
  .each<CaptureOptions>([
    { lines: 2_000 },
    { lines: 2_000, ansi: true },
    { lines: 2_000, joinWrapped: true },
    { lines: 600, whole: true },
    { start: "oldest" },
    { start: -700, joinWrapped: true, ansi: true },
  ])("a long capture (%j) is what the connection gives", async (options) => {
  const { position, ...captured } = await capture(options);
  expect(captured).toEqual(await overTheConnection(options));
  expect(captured.lines.length).toBeGreaterThan(500);
  expect([position.outputSeq, captured.exact]).toEqual([program.source.outputSeq, true]);
});

test.skipIf(!hasMemory)("nothing of it stays, neither a file nor a paste buffer", async () => {
  const names = new Set<string | null>();
  const watcher = watch(folder, (_kind, name) => names.add(name));
  await Promise.all(Array.from({ length: 20 }, () => capture({ lines: 2_000 })));
  await eventually(() => names.size === 20);
  watcher.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(fixture.socket.tmux("list-buffers")).toBe("");
});

test.skipIf(!hasMemory)("a pane that is gone is NOT_FOUND, and leaves nothing", async () => {
  const ended = await startProgram(fixture.server, "ended", script(PRINTED), { cols: 40, rows: 10 });
  const { server } = fixture;
  const captures = Array.from({ length: 30 }, () =>
    server.capture(ended.pane, { lines: 2_000 }).catch((error: unknown) => error),
  );
  const killed = server.killSession(server.findSession("ended")!.id);
  const late = await server.capture(ended.pane, { lines: 2_000 }).catch((error: unknown) => error);
  await killed;
  for (const outcome of [...(await Promise.all(captures)), late]) {
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: "NOT_FOUND" });
    else expect(outcome).toMatchObject({ cols: 40 });
  }
  expect(readdirSync(folder)).toEqual([]);
});

test.skipIf(!hasMemory)("where tmux cannot write, the connection gives the capture", async () => {
  const { lines } = await capture({ lines: 1_500 });
  const lost = mkdtempSync(join(MEMORY, "tmuxwire-test-"));
  await using other = await ownedFixture({ host: { ...host, memory: () => lost } });
  const same = await startProgram(other.server, "long", script(PRINTED), { cols: 40, rows: 10 });
  rmSync(lost, { recursive: true });
  for (let time = 0; time < 2; time += 1) {
    expect((await other.server.capture(same.pane, { lines: 1_500 })).lines).toEqual(lines);
  }
  expect(other.socket.tmux("list-buffers")).toBe("");
});

test.skipIf(!hasMemory)("what a killed daemon left is removed by the next, and nobody else may read the folder", () => {
  const place = mkdtempSync(join(MEMORY, "tmuxwire-test-"));
  try {
    expect(CaptureFiles.in(place, host.processes)).toBeDefined();
    const [own = ""] = readdirSync(place);
    const directory = join(place, own);
    chmodSync(directory, 0o755);
    const names = [`tmuxwire-${GONE}-Ab1-7`, `tmuxwire-${process.pid}-Ab1-7`, "other"];
    for (const name of names) writeFileSync(join(directory, name), "secret");
    expect(CaptureFiles.in(place, host.processes)).toBeDefined();
    expect([readdirSync(directory).sort(), statSync(directory).mode & 0o777]).toEqual([names.slice(1).sort(), 0o700]);
    chmodSync(directory, 0o777);
    expect(CaptureFiles.in(place, host.processes)).toBeUndefined();
    rmSync(directory, { recursive: true });
    symlinkSync(folder, directory);
    expect(CaptureFiles.in(place, host.processes)).toBeUndefined();
    expect(linuxHost({ memory: import.meta.dirname }).memory()).toBeUndefined();
  } finally {
    rmSync(place, { recursive: true });
  }
});

test.skipIf(!hasMemory)("a file that is shorter than the buffer is no capture", async () => {
  const files = CaptureFiles.in(memory, host.processes)!;
  const body = Buffer.from("one\ntwo\n");
  const taken = (written: string, size = body.length) =>
    files.take(
      {
        // As a tmux whose last bytes found no room, which it does not say.
        group: async ([, save = ""]: readonly string[]) => {
          const path = save
            .replace(/^.* /, "")
            .replaceAll(/"|\\([0-7]{3})/g, (_all, code = "0") => String.fromCharCode(Number.parseInt(code, 8)));
          writeFileSync(path.replaceAll("\0", ""), written);
          return [{ body: Buffer.from(`${size}\n`), trailer: "" }];
        },
      },
      async () => ({ body: Buffer.of(), trailer: "told" }),
    );
  expect(await taken("one\ntwo\n")).toEqual({ body, trailer: "told" });
  expect(await taken("one\nt")).toBeUndefined();
  expect(await taken("", 0)).toBeUndefined();
  expect(await taken("one\ntwo", 7)).toEqual({ body, trailer: "told" });
  expect(readdirSync(folder)).toEqual([]);
});
