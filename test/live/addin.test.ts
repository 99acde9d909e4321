/** docs/contracts/addin.md §2–§4 on real tmux: the shared rows, and those of §4 that only a real pane can show. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listen } from "../../adapters/kit/listeners/listen.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { AddinClient } from "../support/daemon/addinClient.ts";
import { overSocket } from "../support/daemon/addinClient.ts";
import { addinRows } from "../support/daemon/addinRows.ts";
import { addinOn, type AddinOn, BRIDGE_SECRET, tmuxBackend } from "../support/daemon/backends.ts";

addinRows(tmuxBackend);

describe("on a real pane", () => {
  let on: AddinOn;
  let client: AddinClient;
  let directory: string;
  let session: string;
  let made = 0;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "tmuxwire-live-"));
    on = await addinOn(tmuxBackend);
    ({ client } = on);
  });

  afterAll(async () => {
    await on[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  beforeEach(async () => {
    session = `live-${++made}`;
    const created = await client.tmux({ action: "create_session", session });
    if (created.status !== 200) throw new Error(`no session to test on: ${created.text}`);
    // The pattern is written so that its own echo is no match: the shell must have run it.
    await run("stty -echo; PS1=; printf '%s-%s\\n' shell ready", "^shell-ready$");
  });

  async function run(text: string, pattern: string, rest: object = {}): Promise<Record<string, unknown>> {
    const request = { action: "send_and_capture", session, text, enter: true, wait_for: pattern, timeout_ms: 15_000 };
    const answered = await client.tmux({ ...request, ...rest });
    expect(answered).toMatchObject({ status: 200 });
    return answered.json;
  }

  const outputOf = async (rest: object = {}): Promise<string> =>
    (await client.tmux({ action: "capture_pane", session, ...rest })).json["output"] as string;

  /** A file that a program in the pane reads its terminal into, until C-d. */
  async function intoFile(name: string): Promise<{ end: () => Promise<string> }> {
    const path = join(directory, name);
    await run(`printf '%s-%s\\n' reader ready; cat > ${path}; printf '%s-%s\\n' reader ended`, "^reader-ready$");
    return {
      end: async () => {
        const request = { action: "send_and_capture", session, keys: ["C-d"], wait_for: "^reader-ended$" };
        expect((await client.tmux(request)).status).toBe(200);
        return readFileSync(path, "utf8");
      },
    };
  }

  // How quickly it responds is a figure of `npm run bench -- health`.
  test("A1 /health responds while a hostile pattern searches a flooding pane", async () => {
    const listener = await listen({ fetch: on.app.fetch, host: "127.0.0.1", port: 0, clock: systemClock });
    using asking = overSocket(listener.url);
    // Ends in a letter that never comes: a flood that pauses within a line leaves one of a's only on the screen.
    const request = { action: "send_and_capture", session, enter: true, wait_for: "^(a+)+c$", timeout_ms: 1_500 };
    const flood = { isOver: false };
    const hostile = client
      .tmux({ ...request, text: `yes ${"a".repeat(60)}b | head -c 10000000` })
      .finally(() => (flood.isOver = true));
    let responses = 0;
    while (!flood.isOver) {
      expect((await asking.health()).status).toBe(200);
      responses += 1;
    }
    expect((await hostile).status).toBe(408);
    // The earlier bridge responded to nothing until the search was over.
    expect(responses).toBeGreaterThan(2);
    await listener.close();
  });

  test("A1 the pattern that stalled the original bridge gets its response", async () => {
    const text = `printf '%s!\\n' ${"a".repeat(60)}`;
    const request = { action: "send_and_capture", session, text, enter: true, wait_for: "^(a+)+$", timeout_ms: 300 };
    expect((await client.tmux(request)).status).toBe(408);
  });

  test("look-around and back-references → 400 with the reason, nothing typed", async () => {
    const before = await outputOf();
    for (const pattern of ["(?=x)", "(x)\\1"]) {
      const request = { action: "send_and_capture", session, text: "stray", wait_for: pattern };
      const refused = await client.tmux(request);
      expect(refused.status).toBe(400);
      expect(refused.json["error"]).toMatch(/^wait_for must be a valid regular expression\. .+/);
    }
    expect(await outputOf()).toBe(before);
  });

  test("A2 kill_session of a prefix: 404, nothing killed", async () => {
    const refused = await client.tmux({ action: "kill_session", session: session.slice(0, -1) });
    expect(refused).toMatchObject({ status: 404 });
    expect((await client.tmux({ action: "list_sessions" })).json["sessions"]).toContain(session);
  });

  test("A4 every character arrives exactly", async () => {
    const texts = [
      "trailing;",
      ";",
      "-foo",
      "-R",
      "  leading and trailing  ",
      "'\"\\$(x)`y`#(z)#{w}~{a,b}",
      "%end",
      "é😀\u200d\ttab",
    ];
    const reader = await intoFile("exact");
    for (const text of texts) await client.tmux({ action: "send_keys", session, text, enter: true });
    expect(await reader.end()).toBe(`${texts.join("\n")}\n`);
  });

  test("A5 a hundred texts at once arrive whole", async () => {
    const texts = Array.from({ length: 100 }, (_unused, index) => `line-${index}-${"x".repeat(40)}`);
    const reader = await intoFile("atomic");
    await Promise.all(texts.map((text) => client.tmux({ action: "send_keys", session, text, enter: true })));
    expect((await reader.end()).trimEnd().split("\n").sort()).toEqual(texts.sort());
  });

  test.each([
    ["at a prompt, without Enter", "stty echo; PS1='rea''dy> '", "^ready> $", false],
    ["at a prompt, with Enter", "stty echo; PS1='rea''dy> '", "^ready> $", true],
    [
      "typed ahead, which echoes it twice",
      "stty echo; PS1='$ '; printf '%s-%s\\n' typing ahead; sleep 0.2",
      "^typing-ahead$",
      true,
    ],
  ])("A6 the echo of typed text does not match, its output does: %s", async (_name, prepare, pattern, enter) => {
    await run(prepare, pattern);
    const request = { action: "send_and_capture", session, text: ": needle", enter, timeout_ms: 700 };
    const startedMs = performance.now();
    const typed = await client.tmux({ ...request, wait_for: "needle" });
    expect(performance.now() - startedMs).toBeGreaterThan(700);
    expect(typed).toMatchObject({ status: 200, json: { metadata: { matchedEcho: true } } });
    expect(typed.json["output"]).toContain(": needle");
    await client.tmux({ action: "send_keys", session, keys: ["C-u"] });
    await run("echo needle", "needle");
  });

  test("A7 output that disappears at once is matched", async () => {
    const json = await run("printf 'fl%s\\033[2K\\r' ash", "flash");
    expect(json["metadata"]).toMatchObject({ matchedText: "flash" });
    await run("printf '%s-%s\\n' all done", "^all-done$");
    expect(await outputOf()).not.toContain("flash");
  });

  test("A8 lines are the last lines of history and screen together", async () => {
    await run("seq 1 300; printf '%s-%s\\n' seq done", "^seq-done$");
    expect(await outputOf({ lines: 3 })).toBe("299\n300\nseq-done");
    expect((await outputOf({ lines: 250 })).split("\n")).toHaveLength(250);
  });

  test("join_wrapped joins what tmux wrapped", async () => {
    const long = "w".repeat(200);
    await run(`printf '%s\\n' ${long} end-of-it`, "^end-of-it$");
    expect(await outputOf()).not.toContain(long);
    expect(await outputOf({ join_wrapped: true })).toContain(long);
  });

  test("captures hold no escape sequences and no blanks at the end", async () => {
    // Not `clear`: it leaves the history where TERM is `screen`, as on tmux 3.2.
    await run(
      "printf '\\033[H\\033[2J\\033[3J\\033[31mred\\033[0m   \\n\\n'; printf '%s-%s   \\n' all done",
      "^all-done",
    );
    expect(await outputOf()).toBe("red\n\nall-done");
  });

  test.each(["#(touch PWNED)", "#{pid}", "a\nkill-server", "sp ace'\"\\$(x)"])(
    "A11 A13 a cwd named %j is taken literally",
    async (name) => {
      const cwd = join(directory, name);
      mkdirSync(cwd);
      const inside = `${session}-cwd`;
      expect((await client.tmux({ action: "create_session", session: inside, cwd })).status).toBe(200);
      const file = join(directory, "pwd");
      const answered = await client.tmux({
        action: "send_and_capture",
        session: inside,
        text: `pwd > ${file}; printf '%s-%s\\n' pwd done`,
        enter: true,
        wait_for: "^pwd-done$",
      });
      expect(answered.status).toBe(200);
      expect(readFileSync(file, "utf8")).toBe(`${cwd}\n`);
      expect(existsSync(join(cwd, "PWNED")) || existsSync(join(directory, "PWNED")) || existsSync("PWNED")).toBe(false);
      expect((await client.health()).status).toBe(200);
    },
  );

  test("A12 the bridge's token is not in a pane's environment", async () => {
    const file = join(directory, "environment");
    await run(`env > ${file}; printf '%s-%s\\n' env done`, "^env-done$");
    const environment = readFileSync(file, "utf8");
    expect(environment).toMatch(/^PATH=/m);
    expect(environment).not.toContain(BRIDGE_SECRET);
  });

  test("A13 text with a newline is typed, not executed by tmux", async () => {
    const reader = await intoFile("newline");
    await client.tmux({ action: "send_keys", session, text: "one\nkill-server\ntwo", enter: true });
    expect(await reader.end()).toBe("one\nkill-server\ntwo\n");
  });
});
