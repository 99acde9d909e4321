/**
 * `wait_for` as people write it who read trimmed captures: on a real pane, with real shells and programs. What the stream
 * does not say as they write it is found on the screen; what stood there before the send, and the echo, never is.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AddinClient, Answer } from "../support/daemon/addinClient.ts";
import { addinOn, type AddinOn, tmuxBackend } from "../support/daemon/backends.ts";

let client: AddinClient;
let session: string;
let made = 0;
let on: AddinOn;

beforeAll(async () => {
  on = await addinOn(tmuxBackend);
  ({ client } = on);
});

afterAll(() => on[Symbol.asyncDispose]());

beforeEach(async () => {
  session = `screen-${++made}`;
  await client.tmux({ action: "create_session", session });
  // A shell without anybody's start-up files, whose prompt is one dollar. It is awaited (after one in a row with other text, which the pattern does
  // not match): a prompt that comes after the next send would be news.
  const ready = await soon("exec bash --norc --noprofile", "[$#] ?$");
  const named = await soon("PS1='$ '; printf '%s-%s' shell ready", "^shell-ready\\$ ?$");
  const prompt = await soon("", "^\\$$");
  for (const step of [ready, named, prompt]) if (!step.startsWith("matched")) throw new Error(`no shell: ${step}`);
});

const ask = (text: string, pattern: string, timeoutMs: number, rest: object = {}): Promise<Answer> =>
  client.tmux({
    action: "send_and_capture",
    session,
    text,
    enter: true,
    wait_for: pattern,
    timeout_ms: timeoutMs,
    ...rest,
  });

/** `matched` says with what; `echo`: only the echo had matched when the time was over. */
async function outcomeOf(text: string, pattern: string, timeoutMs: number): Promise<string> {
  const { status, json } = await ask(text, pattern, timeoutMs);
  const { matchedText, matchedEcho } = (json["metadata"] ?? {}) as Record<string, unknown>;
  if (status === 408) return "timeout";
  if (status !== 200) return JSON.stringify(json);
  return matchedEcho === true ? "echo" : `matched ${JSON.stringify(matchedText)}`;
}

const soon = (text: string, pattern: string): Promise<string> => outcomeOf(text, pattern, 15_000);
const inVain = (text: string, pattern: string, timeoutMs = 700): Promise<string> => outcomeOf(text, pattern, timeoutMs);

describe("a pattern matches what the screen shows after the send", () => {
  test.each([
    ["a prompt without its blank", "echo hello", "\\$$"],
    ["a prompt on a row of its own", "echo hello", "^\\$$"],
    ["a prompt behind more than a screen of output", "seq 200", "^\\$$"],
    ["a prompt behind more output than the history holds", "seq 12000", "^\\$$"],
    ["a prompt on a cleared screen", "clear", "^\\$$"],
    [
      "text drawn with the cursor",
      "printf '\\033[3H\\033[2K\\033[3;9Hdra\\033[3;1H12345678\\033[3;12Hwn'; sleep 0.3",
      "^12345678drawn$",
    ],
    ["columns that tabs have made", "printf 'a\\tb-%s\\n' tab", "^a {7}b-tab$"],
    ["corrected with backspaces", "printf 'wrnog\\b\\b\\bong%s\\n' -done", "^wrong-done$"],
    [
      "written over from the start of the row",
      "printf 'progress 10%%\\rprogress %s0%%' 9; sleep 0.3",
      "^progress 90%$",
    ],
    ["drawn in the row of the one before", "printf 'one\\033[Atwo\\033[B-%s\\n' x; sleep 0.3", "^one {3}-x$"],
    ["a long row that tmux wraps", "printf '%s\\b\\b\\bend' {10..60}; sleep 0.3", "^10.*59end$|end$"],
  ])("%s", async (_name, text, pattern) => {
    expect(await soon(text, pattern)).toMatch(/^matched/);
  });

  test("python's prompt", async () => {
    const found = await soon("python3 -q", ">>>$");
    expect(found).toBe('matched ">>>"');
    expect(await soon("1 + 1", ">>>$")).toMatch(/^matched/);
    expect(await soon("exit()", "^\\$$")).toMatch(/^matched/);
  });

  test("a full-screen program's own screen, and the shell it gives back", async () => {
    expect(
      await soon("printf '\\033[?1049h\\033[5;5Hinside-%s' it; read x; printf '\\033[?1049l'", "^ {4}inside-it$"),
    ).toMatch(/^matched/);
    expect(await soon("", "^\\$$")).toMatch(/^matched/);
  });
});

describe("a pattern does not match what the screen showed before the send", () => {
  test("output of an earlier command, wherever it stands", async () => {
    expect(await soon("printf '\\033[H\\033[2Jnee%s' dle; echo; printf '%s-%s\\n' all there", "^all-there$")).toMatch(
      /^matched/,
    );
    expect(await inVain("true", "^needle$")).toBe("timeout");
    expect(await inVain("seq 5", "needle")).toBe("timeout");
    expect(await inVain("seq 40", "^needle$")).toBe("timeout");
    expect(await inVain("seq 200", "needle")).toBe("timeout");
  });

  test("nor after its row has left the screen and history was thrown away", async () => {
    expect(await soon("printf 'nee%s\\n' dle; seq 30; printf '%s-%s\\n' all there", "^all-there$")).toMatch(/^matched/);
    expect(await inVain("seq 12000", "needle")).toBe("timeout");
    expect(await inVain("seq 50; tmux clear-history; seq 3", "needle")).toBe("timeout");
  });

  test("the prompt at which it was typed, while its command runs", async () => {
    expect(await inVain("sleep 2", "\\$$")).toBe("timeout");
    expect(await inVain("", "^\\$$", 300)).toBe("timeout");
  });

  test("the prompt of a terminal that echoes nothing", async () => {
    expect(
      await soon(
        "stty -echo; bind 'set echo-control-characters off' 2>/dev/null; printf '%s-%s' no echo",
        "^no-echo\\$ ?$",
      ),
    ).toMatch(/^matched/);
    expect(await soon("", "^\\$$")).toMatch(/^matched/);
    expect(await inVain("sleep 1.5", "^\\$$")).toBe("timeout");
  });

  test("a row that is only rewrapped", async () => {
    expect(await inVain(`printf '%s\\n' ${"x".repeat(80)}'$'; sleep 1.5`, "^\\$$")).toBe("timeout");
  });
});

describe("a pattern that only the echo matches is reported on timeout", () => {
  const echoOnly = { ok: true, action: "send_and_capture", metadata: { matchedEcho: true } };

  test.each([
    ["at a prompt", ": needle", "needle", true],
    ["without Enter", ": needle", "needle$", false],
    ["as the row ends", ": needle", "needle$", true],
    ["with its prompt", ": needle", "^\\$ : needle", true],
    ["wrapped over rows", `: ${"long ".repeat(30)}needle`, "needle", true],
  ])("%s", async (_name, text, pattern, enter) => {
    const { status, json } = await ask(text, pattern, 700, { enter });
    expect([status, json]).toMatchObject([200, echoOnly]);
    expect(json["metadata"]).not.toHaveProperty("matchedText");
    expect(json["output"]).toContain("needle");
  });

  test("text before the echo is not part of it", async () => {
    expect(await soon("PS1='host-name$ '", "host-name\\$")).toMatch(/^matched/);
    expect(await inVain("sleep 1.5", "host-name")).toBe("timeout");
  });

  test("not when its output matches as well", async () => {
    expect(await soon("echo needle", "needle")).toBe('matched "needle"');
  });
});
