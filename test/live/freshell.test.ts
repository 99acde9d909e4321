/** Freshell's terminals on real tmux with real shells: what a stub cannot show (docs/contracts/freshell.md). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHash } from "node:crypto";
import type { Host } from "../../daemon/host/host.ts";
import { linuxHost } from "../../daemon/host/linux/linuxHost.ts";
import { eventually } from "../support/clock/eventually.ts";
import { isAlive } from "../support/daemon/isAlive.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";
import { type FreshellClient, FreshellFixture } from "../support/daemon/freshellFixture.ts";
import { breakConnection, ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";

/** Else the code goes with the pane. */
const KEEPS_PANES = keepsPanes();
const anyCode: unknown = KEEPS_PANES ? expect.any(Number) : null;

let owned: OwnedFixture;
let freshell: FreshellFixture;
const directory = mkdtempSync(join(tmpdir(), "freshell-test-"));
beforeAll(async () => {
  owned = await ownedFixture();
  freshell = await FreshellFixture.start(owned.server, { config: { maxTerminals: 100 } });
});
afterAll(async () => {
  await freshell[Symbol.asyncDispose]();
  await owned[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** A shell without anybody's start-up files. */
const shell = async (more: object = {}): Promise<string> => {
  const { terminalId } = await freshell.create({ shell: "/bin/sh", ...more });
  await wait(terminalId, { prompt: true, from: "tail:1" });
  return terminalId;
};
const post = (id: string, what: string, body?: unknown) => freshell.call("POST", `/api/terminals/${id}/${what}`, body);
const type = (id: string, ...keys: string[]) => post(id, "input", { keys });
const wait = async (terminalId: string, asked: object): Promise<Record<string, unknown>> => {
  const { status, json, text } = await freshell.call("POST", "/api/waits", {
    target: { terminalId },
    timeoutSec: 50,
    ...asked,
  });
  if (status !== 200 || "error" in json) throw new Error(text);
  return json;
};
/** What it prints once the command is done. */
async function run(id: string, command: string): Promise<void> {
  const done = wait(id, { pattern: "done-42", from: "now" });
  await type(id, `${command}; echo done-$((40+2))`, "Enter");
  await done;
}
const entry = async (id: string) => (await freshell.call("GET", `/api/terminals/${id}`)).json;
const capture = async (id: string, query = "") =>
  (await freshell.call("GET", `/api/terminals/${id}/capture${query}`)).json as { lines: string[]; outputSeq: number };
const paneOf = (id: string): string =>
  owned.socket
    .tmux("list-panes", "-a", "-F", "#{pane_id} #{@tmuxwire_freshell}")
    .split("\n")
    .find((line) => line.includes(id) && !line.startsWith("%-"))
    ?.split(" ")[0] ?? "";
const attach = async (terminalId: string): Promise<FreshellClient> => {
  const client = await freshell.connect();
  client.send({ type: "terminal.attach", terminalId });
  await client.next("terminal.attached");
  return client;
};

describe("F071 F072 F074 F075 F076: what is typed", () => {
  test("tokens from left to right, nothing between them; names in any case are keys", async () => {
    const id = await shell();
    const ready = wait(id, { pattern: "ready-2" });
    const hex = "61 62 63 0d 1b 5b 41 03 7f 09 20 1b 65 6e 74 65 72 78";
    const count = hex.split(" ").length;
    await type(id, `stty raw -echo; echo ready-$((1+1)); head -c ${count} | od -An -tx1 -v -w64; stty sane`, "Enter");
    await ready;
    const read = wait(id, { pattern: hex });
    await type(id, "abc", "enter", "Up", "c-C", "BSpace", "Tab", "Space", "escape", "enterx");
    expect(await read).toMatchObject({ matched: [{ predicate: "pattern", text: hex }] });
  });

  test("64 KiB arrive byte for byte", async () => {
    const id = await shell();
    const file = join(directory, "typed");
    const line = (at: number): string => `${at} ;'"$\\\`-l 𝄞é ${"x".repeat(40)}\n`;
    const text = Array.from({ length: 1_060 }, (_, at) => line(at)).join("");
    expect(Buffer.byteLength(text)).toBeGreaterThan(60_000);
    const ready = wait(id, { pattern: "ready-2" });
    await type(id, `stty -echo; echo ready-$((1+1)); cat > ${file}; echo done-$((40+2))`, "Enter");
    await ready;
    const done = wait(id, { pattern: "done-42" });
    expect((await post(id, "input", { keys: [text], literal: true })).status).toBe(200);
    await type(id, "C-d");
    await done;
    const sha = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");
    expect(sha(readFileSync(file))).toBe(sha(text));
  });
});

describe("F080 F081 F082 F083 F084 F085: what is seen", () => {
  test("the lines of tmux's own capture-pane, whatever is asked", async () => {
    const id = await shell();
    await run(id, `seq 1 300; printf '\\033[31mred\\033[0m %0200d\\n' 7`);
    const pane = paneOf(id);
    for (const args of [
      [],
      ["-S", "0"],
      ["-S", "-5"],
      ["-S", "3"],
      ["-S", "-"],
      ["-S", "-9999"],
      ["-J", "-S", "-"],
      ["-e", "-S", "-3"],
    ]) {
      const shown = owned.socket
        .tmux("capture-pane", "-p", "-t", pane, ...args)
        .split("\n")
        .slice(0, -1);
      const start = args.includes("-S") ? `&S=${args[args.indexOf("-S") + 1]}` : "";
      const query = `?J=${args.includes("-J") ? 1 : 0}&e=${args.includes("-e") ? 1 : 0}${start}`;
      const { lines } = await capture(id, query);
      expect([args, lines]).toEqual([args, shown]);
      expect(lines.join("").includes("\u001b")).toBe(args.includes("-e"));
    }
    // tmux before 3.3 joins rows with the blanks at their ends.
    const all = (await capture(id, "?S=-&J=1")).lines.map((line) => line.trimEnd());
    expect(all).toContain("1");
    expect(all.some((line) => line.length > 200)).toBe(true);
  });

  test("lines that tmux has dropped are missing", async () => {
    const id = await shell();
    await run(id, "seq 1 10500");
    const kept = (await capture(id, "?S=-")).lines;
    expect(kept.length).toBeGreaterThan(8_900);
    expect(kept).not.toContain("1");
    const beyond = await freshell.call("GET", `/api/terminals/${id}/capture?S=-10400`);
    expect([beyond.status, beyond.json]).toMatchObject([501, { error: { code: "UNSUPPORTED_CAPTURE_MODE" } }]);
    expect((await capture(id, "?S=-8000")).lines.length).toBe(8_024);
  });

  test("a pane killed by somebody else leaves only its text", async () => {
    const id = await shell();
    await run(id, "printf 'kept \\033[1mtext\\033[0m\\n'");
    owned.socket.tmux("kill-pane", "-t", paneOf(id));
    await eventually(async () => (await entry(id))["status"] === "exited");
    expect((await capture(id, "?S=-")).lines).toContain("kept text");
    for (const query of ["", "?J=1&S=-", "?e=1&S=-", "?S=-5"]) {
      const { json } = await freshell.call("GET", `/api/terminals/${id}/capture${query}`);
      expect(json).toMatchObject({ error: { code: "UNSUPPORTED_CAPTURE_MODE" } });
    }
    const client = await attach(id);
    expect(client.text(id)).toContain("kept");
  });
});

describe("F009 F070 F079 F139: the end of a program", () => {
  test.skipIf(!KEEPS_PANES)("its screen and exit code stay; input is refused; killing it forgets it", async () => {
    const id = await shell();
    await run(id, "echo last words");
    const client = await attach(id);
    const ended = wait(id, { exit: true });
    await type(id, "exit 3", "Enter");
    expect(await ended).toMatchObject({ matched: [{ predicate: "exit" }], exitCode: 3 });
    expect(await client.next("terminal.exit")).toEqual({ type: "terminal.exit", terminalId: id, exitCode: 3 });
    expect(await entry(id)).toMatchObject({ status: "exited", exitCode: 3, pid: null });
    expect((await capture(id)).lines).toContain("last words");
    const { status, json } = await type(id, "x");
    expect([status, json]).toMatchObject([400, { error: { code: "INVALID_TARGET" } }]);
    client.send({ type: "terminal.input", terminalId: id, data: "x" });
    expect(await client.next("error")).toMatchObject({ code: "INVALID_TERMINAL_ID", terminalId: id });
    expect(await wait(id, { exit: true })).toMatchObject({ exitCode: 3 });
    client.send({ type: "terminal.kill", terminalId: id });
    await eventually(async () => (await freshell.call("GET", `/api/terminals/${id}`)).status === 404);
    expect(client.frames.some(({ type: each }, at) => each === "error" && at > client.frames.length - 2)).toBe(false);
  });

  test("kill ends the whole process group, one that ignores the hangup too; waits hear of it at once", async () => {
    const id = await shell();
    const file = join(directory, "pid");
    const ready = wait(id, { pattern: "ready-2" });
    await type(id, `sh -c "trap '' HUP TERM; echo \\$\\$ > ${file}; echo ready-\\$((1+1)); sleep 1000 | cat"`, "Enter");
    await ready;
    const pid = Number(readFileSync(file, "utf8"));
    const waiting = freshell.call("POST", "/api/waits", {
      target: { terminalId: id },
      pattern: "never",
      timeoutSec: 60,
    });
    await eventually(() => freshell.waits.metrics().wait_active === 1);
    const killed = await post(id, "kill");
    expect(killed.json).toEqual({ ok: true, exitCode: anyCode });
    expect((await waiting).json).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect((await post(id, "kill")).status).toBe(404);
    await eventually(() => !isAlive(pid));
  });
});

describe("F070: a kill ends the shell itself", () => {
  test.each(["/bin/sh", "/bin/bash"])(
    "%s that ignores the hangup and TERM is gone when the kill is answered; the listed pid was its own",
    async (path) => {
      const { terminalId: id } = await freshell.create({ shell: path });
      await wait(id, { prompt: true, from: "tail:1" });
      const told = wait(id, { pattern: "own-\\d+", regex: true });
      await type(id, `trap '' HUP TERM; echo own-$$; while :; do sleep 0.1; done`, "Enter");
      const [{ text }] = (await told)["matched"] as [{ text: string }];
      const pid = Number(text.slice("own-".length));
      expect(await entry(id)).toMatchObject({ pid, status: "running" });
      expect(await post(id, "kill")).toMatchObject({
        status: 200,
        json: { ok: true, exitCode: KEEPS_PANES ? 137 : null },
      });
      expect(isAlive(pid)).toBe(false);
      expect((await post(id, "kill")).status).toBe(404);
    },
  );

  test("each input behind a kill on the same socket gets its error", async () => {
    const id = await shell();
    const client = await freshell.connect();
    client.send({ type: "terminal.kill", terminalId: id });
    for (let at = 0; at < 5; at += 1) client.send({ type: "terminal.input", terminalId: id, data: `${at}` });
    client.send({ type: "terminal.input", terminalId: id, data: "" });
    client.send({ type: "terminal.resize", terminalId: id, cols: 80, rows: 20 });
    for (let at = 0; at < 7; at += 1) {
      expect(await client.next("error")).toMatchObject({ code: "INVALID_TERMINAL_ID", terminalId: id });
    }
    await eventually(async () => (await freshell.call("GET", `/api/terminals/${id}`)).status === 404);
  });

  test("the listed pid is the program's, right after it was made and after a respawn", async () => {
    const made = await freshell.create({ shell: "/bin/sh" });
    const again = (await post(made.terminalId, "respawn")).json;
    for (const pid of [again["pid"], (await freshell.create({ shell: "/bin/sh" })).pid]) {
      // The shell itself, which has the script's words until it runs, and not the one that waits for it with its script.
      const words = (): string => readFileSync(`/proc/${String(pid)}/cmdline`, "utf8");
      await eventually(() => !words().split("\0").includes("-c"));
      expect(words()).toMatch(/^\/bin\/sh\0/);
    }
  });

  test("a shell that signals do not reach lives: the kill says so, its id stays, and it can be killed later", async () => {
    const { processes, ...host } = linuxHost();
    let isDeaf = true;
    const deaf: Host = {
      ...host,
      processes: { ...processes, signal: (pid, name) => (isDeaf ? false : processes.signal(pid, name)) },
    };
    await using other = await ownedFixture({ host: deaf });
    await using own = await FreshellFixture.start(other.server);
    const { terminalId, pid } = await own.create({ shell: "/bin/sh" });
    const path = `/api/terminals/${terminalId}`;
    for (const what of ["kill", "respawn"]) {
      const { status, json } = await own.call("POST", `${path}/${what}`);
      expect([status, json]).toMatchObject([
        409,
        {
          error: {
            code: "INCONSISTENT_STATE",
            message: expect.stringContaining(String(pid)) as unknown,
            details: { pids: [pid] },
          },
        },
      ]);
      expect((await own.call("GET", path)).json).toMatchObject({ status: "running", pid });
      expect(isAlive(Number(pid))).toBe(true);
    }
    expect((await own.call("POST", `${path}/input`, { data: ":\n" })).status).toBe(200);
    isDeaf = false;
    expect((await own.call("POST", `${path}/kill`)).json).toMatchObject({ ok: true });
    expect(isAlive(Number(pid))).toBe(false);
    expect((await own.call("GET", path)).status).toBe(404);
  });

  test("the program of a pane killed by somebody else ends with its terminal", async () => {
    const file = join(directory, "deaf");
    writeFileSync(file, "#!/bin/sh\ntrap '' HUP TERM\necho deaf-$((40+2))\nwhile :; do sleep 0.1; done\n", {
      mode: 0o700,
    });
    const { terminalId: id, pid } = await freshell.create({ shell: file });
    await wait(id, { pattern: "deaf-42", from: "tail:1" });
    owned.socket.tmux("kill-pane", "-t", paneOf(id));
    await eventually(async () => (await entry(id))["status"] === "exited");
    expect(isAlive(Number(pid))).toBe(true);
    expect((await post(id, "kill")).status).toBe(200);
    expect(isAlive(Number(pid))).toBe(false);
  });
});

describe("F069 F010 F119: the same terminal, another program", () => {
  test("respawn: another process, the output goes on, and so do waits", async () => {
    const id = await shell({ cols: 90, rows: 20, cwd: "/tmp" });
    await run(id, "echo first $$");
    const client = await attach(id);
    const before = await entry(id);
    const waiting = wait(id, { pattern: "after-42" });
    const { status, json } = await post(id, "respawn");
    expect([status, json]).toMatchObject([200, { terminalId: id, status: "running", cols: 90, rows: 20, cwd: "/tmp" }]);
    expect(json["pid"]).not.toBe(before["pid"]);
    expect(json["createdAt"]).toBe(before["createdAt"]);
    const exit = await client.next("terminal.exit");
    expect(exit["exitCode"]).toEqual(anyCode);
    await client.next("terminal.output");
    await type(id, "echo after-$((40+2)); pwd", "Enter");
    await waiting;
    await client.shows(id, "/tmp");
    const seqs = client.frames
      .filter(({ type: each }) => each === "terminal.output")
      .map(({ outputSeq }) => Number(outputSeq));
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    expect(seqs[0]).toBeGreaterThan((before["bufferRef"] as { outputSeq: number }).outputSeq);
    expect((await capture(id)).lines.join("\n")).not.toContain("first");
    await type(id, "exit 4", "Enter");
    expect(await client.next("terminal.exit")).toMatchObject({ exitCode: KEEPS_PANES ? 4 : null });
    expect((await post(id, "respawn")).json).toMatchObject({ status: "running" });
  });

  test("a lost connection to tmux is a gap and a fresh screen, and outputSeq goes on", async () => {
    const id = await shell();
    await run(id, "echo before");
    const client = await attach(id);
    const { outputSeq } = await capture(id);
    await breakConnection(owned);
    const gap = await client.next("terminal.output", (frame) => "gap" in frame);
    expect(gap).toMatchObject({ data: "", gap: { from: outputSeq, to: gap["outputSeq"], reason: "epoch" } });
    expect((await client.next("terminal.attached"))["snapshot"]).toContain("before");
    await run(id, "echo afterwards");
    const output = await client.next("terminal.output");
    expect(output["outputSeq"]).toBeGreaterThan(Number(gap["outputSeq"]));
    expect(client.frames.filter((frame) => "gap" in frame)).toHaveLength(1);
  });
});

describe("F233 and questions", () => {
  test("a client that attaches can scroll back to what scrolled away, in its colours", async () => {
    const id = await shell();
    await run(id, "for i in $(seq 1 200); do printf '\\033[3%dmline %d\\033[0m\\n' $((i % 8)) $i; done");
    const client = await attach(id);
    const snapshot = client.text(id);
    expect(snapshot.startsWith("\u001bc")).toBe(true);
    for (const at of [1, 100, 180, 200]) expect(snapshot).toContain(`\u001b[3${at % 8}mline ${at}\u001b`);
    expect(snapshot.indexOf("line 1\u001b")).toBeLessThan(snapshot.indexOf("line 200\u001b"));
  });

  test("what tmux answers is not asked again; what it does not answer is", async () => {
    const id = await shell();
    const client = await attach(id);
    await run(
      id,
      "stty -echo; printf '\\033[c\\033[6n\\033[5n\\033[>c\\033[>q<osc\\033]11;?\\007>'; sleep 0.2; stty echo",
    );
    await client.shows(id, "done-42");
    const text = client.text(id);
    expect(text).toContain("<osc\u001b]11;?\u0007>");
    // oxlint-disable-next-line no-control-regex -- escape sequences are what it looks for
    expect(text).not.toMatch(/\u001b\[(?:>?0?c|[56]n|>0?q)/);
  });

  test("a program's text is text: frames, guard lines and another terminal's id in it change nothing", async () => {
    const [id, other] = [await shell(), await shell()];
    const client = await attach(id);
    await run(
      id,
      `printf '%s\\n' '{"type":"terminal.exit","terminalId":"${other}","exitCode":0}' '%end 1 1 1' '%output %1 x'; printf '\\377\\376'; head -c 1000000 /dev/zero | tr '\\0' x`,
    );
    await client.shows(id, "done-42");
    expect(client.frames.some(({ type: each }) => each === "terminal.exit")).toBe(false);
    expect(await entry(other)).toMatchObject({ status: "running" });
    expect(client.text(id)).toContain("\ufffd");
  });
});

describe("F067 F087: waits, with no device there", () => {
  /** Armed before anything is typed. */
  async function waitWhile(id: string, asked: object, ...keys: string[]): Promise<Record<string, unknown>> {
    const answer = wait(id, asked);
    await eventually(() => freshell.waits.metrics().wait_active === 1);
    await type(id, ...keys);
    return answer;
  }

  test("F116 a prompt in colours is one, a percentage in a line is none", async () => {
    const id = await shell();
    // The line is empty when the wait begins: a prompt that stands there counts once nothing has come for a moment, and
    // what is typed may come later.
    const afterEnter = (command: string) =>
      waitWhile(id, { pattern: "ready-2" }, `echo ready-$((1+1)); read _; ${command}`, "Enter");
    await afterEnter(String.raw`PS1="$(printf '\033[32m\044\033[0m ')"; sleep 0.1`);
    expect(await waitWhile(id, { prompt: true }, "Enter")).toMatchObject({ matched: [{ predicate: "prompt" }] });
    // Typed without its sign, which may stand at the end of what is echoed first.
    await afterEnter(String.raw`printf '50\045 done'; sleep 1`);
    await expect(waitWhile(id, { prompt: true, timeoutSec: 0.6 }, "Enter")).rejects.toThrow("TIMEOUT");
  });
});
