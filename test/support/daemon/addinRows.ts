/**
 * The rows of docs/contracts/addin.md §2 and §3, and those of §4 that any backend can show, as tests: run against the stub
 * in every run and against real tmux in the live run. Sessions are named anew by each test, so rows cannot touch.
 */
import { eventually } from "../clock/eventually.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AddinClient, Answer } from "./addinClient.ts";
import { addinOn, type AddinOn, type Backend } from "./backends.ts";

/** docs/contracts/addin.md §2: a request for each rule and the message it is refused with, always as a 400. */
type Request = Readonly<Record<string, unknown>>;

const BAD_NAME = "Invalid session name. Use 1-64 chars: letters, numbers, ., _, :, -";
const BAD_PATTERN = "wait_for must be a valid regular expression.";

// `work` need not exist: every field is checked before the session is looked up.
const send: Request = { action: "send_keys", session: "work", text: "x" };
const addinFieldRows: readonly [name: string, request: Request, error: string][] = [
  ["action: absent", {}, "Invalid action."],
  ["action: no string", { action: 7 }, "Invalid action."],
  ["action: unknown", { action: "run" }, "Invalid action."],
  ["action: of another case", { action: "LIST_SESSIONS" }, "Invalid action."],
  ...["-work", ".work", "wo rk", "wörk", "w/k", "a\nb", "x".repeat(65)].map((session): [string, Request, string] => [
    `session: ${JSON.stringify(session)}`,
    { ...send, session },
    BAD_NAME,
  ]),
  ["session: checked for list_sessions too", { action: "list_sessions", session: "-" }, BAD_NAME],
  ...["kill_session", "capture_pane", "send_keys", "send_and_capture"].flatMap((action) =>
    [undefined, "  ", 7, null].map((session): [string, Request, string] => [
      `session: ${JSON.stringify(session) ?? "absent"} for ${action}`,
      { action, session, text: "x" },
      `session is required for ${action}`,
    ]),
  ),
  ["keys: no array", { ...send, keys: "Enter" }, "keys must be an array of strings."],
  ["keys: null", { ...send, keys: null }, "keys must be an array of strings."],
  ["keys: not only strings", { ...send, keys: ["Enter", 1] }, "keys must contain only strings."],
  ...["a b", "Enter;", "-é", "x".repeat(49)].map((key): [string, Request, string] => [
    `keys: ${key}`,
    { ...send, keys: ["Up", key] },
    `Invalid key token: ${key}`,
  ]),
  ...["Entr", "F13", "C-Entr", "hello"].map((key): [string, Request, string] => [
    `A10 keys: ${key}, which tmux does not know`,
    { ...send, keys: [key] },
    `Invalid key token: ${key}`,
  ]),
  ["text: too long", { ...send, text: "x".repeat(8_001) }, "text is too long (max 8000 characters)."],
  [
    "text: half a surrogate pair",
    { ...send, text: "a\ud800b" },
    "text must be well-formed Unicode: it has half of a surrogate pair.",
  ],
  ...["200", null, 1.5, true].map((lines): [string, Request, string] => [
    `lines: ${JSON.stringify(lines)}`,
    { action: "list_sessions", lines },
    "lines must be an integer.",
  ]),
  ...[0, -1, 5_001].map((lines): [string, Request, string] => [
    `lines: ${lines}`,
    { action: "list_sessions", lines },
    "lines must be between 1 and 5000.",
  ]),
  ["timeout_ms: no integer", { ...send, timeout_ms: "1000" }, "timeout_ms must be an integer."],
  ["timeout_ms: too short", { ...send, timeout_ms: 99 }, "timeout_ms must be between 100 and 120000."],
  ["timeout_ms: too long", { ...send, timeout_ms: 120_001 }, "timeout_ms must be between 100 and 120000."],
  ["wait_ms: no integer", { ...send, wait_ms: null }, "wait_ms must be an integer."],
  ["wait_ms: too short", { ...send, wait_ms: -1 }, "wait_ms must be between 0 and 120000."],
  ["wait_ms: too long", { ...send, wait_ms: 120_001 }, "wait_ms must be between 0 and 120000."],
  ["wait_for: too long", { ...send, wait_for: "x".repeat(257) }, "wait_for is too long (max 256 characters)."],
  ["wait_for: no regular expression", { ...send, wait_for: "(" }, BAD_PATTERN],
  ["wait_for: checked for every action", { action: "list_sessions", wait_for: "[" }, BAD_PATTERN],
  ["cwd: relative", { action: "list_sessions", cwd: "tmp" }, "cwd must be an absolute path."],
  ["cwd: absent from the disk", { action: "create_session", cwd: "/no/such/dir" }, "cwd does not exist: /no/such/dir"],
  ["A11 cwd: named like a format", { action: "create_session", cwd: "/#(touch x)" }, "cwd does not exist: /#(touch x)"],
  [
    "A13 cwd: with a line end",
    { action: "create_session", cwd: "/tmp\nkill-server" },
    "cwd does not exist: /tmp\nkill-server",
  ],
  [
    "input: none",
    { action: "send_keys", session: "work" },
    "send_keys requires at least one of: text, keys, or enter=true.",
  ],
  [
    "input: only blanks",
    { action: "send_keys", session: "work", text: " \t", keys: [" "], enter: "yes" },
    "send_keys requires at least one of: text, keys, or enter=true.",
  ],
  [
    "input: none for send_and_capture",
    { action: "send_and_capture", session: "work", text: 7 },
    "send_and_capture requires at least one of: text, keys, or enter=true.",
  ],
  ["order: action before session", { action: "x", session: "-" }, "Invalid action."],
  ["order: session before cwd", { ...send, session: "-", cwd: "x" }, BAD_NAME],
  ["order: cwd on the disk before keys", { ...send, cwd: "/no/such/dir", keys: 7 }, "cwd does not exist: /no/such/dir"],
  [
    "order: keys that tmux does not know before lines",
    { ...send, keys: ["Entr"], lines: 0 },
    "Invalid key token: Entr",
  ],
  ["order: the pattern before timeout_ms", { ...send, wait_for: "(", timeout_ms: 0 }, BAD_PATTERN],
  [
    "order: wait_ms before what is required",
    { action: "send_keys", wait_ms: -1 },
    "wait_ms must be between 0 and 120000.",
  ],
];

export function addinRows(backend: Backend): void {
  describe(`add-in contract on ${backend.name}`, () => {
    let client: AddinClient;
    let on: AddinOn;
    let directory: string;
    let made = 0;

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), "tmuxwire-rows-"));
      writeFileSync(join(directory, "file"), "");
      on = await addinOn(backend);
      ({ client } = on);
    });

    afterAll(async () => {
      await on[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    });

    const sessionName = (): string => `row-${++made}`;

    async function createdSession(session = sessionName()): Promise<string> {
      expect((await client.tmux({ action: "create_session", session })).status).toBe(200);
      return session;
    }

    /** What makes the pane show `a-b`; on a real one its echo does not. */
    const printing = (a: string, b: string): string =>
      backend.name === "stub" ? `${a}-${b}` : `printf '%s-%s\\n' ${a} ${b}`;

    const refused = (status: number, error: string): object => ({ status, json: { ok: false, error } });

    describe("§2 request fields", () => {
      test.each(addinFieldRows)("%s → 400", async (_name, request, error) => {
        expect(await client.tmux(request)).toMatchObject(refused(400, error));
      });

      test("cwd: a file → 400", async () => {
        const cwd = join(directory, "file");
        expect(await client.tmux({ action: "list_sessions", cwd })).toMatchObject(
          refused(400, `cwd is not a directory: ${cwd}`),
        );
      });
      test("action and session: blanks around them and unknown fields do not matter", async () => {
        const session = await createdSession();
        const request = { action: " kill_session ", session: ` ${session} `, colour: "red" };
        expect(await client.tmux(request)).toMatchObject({ status: 200, json: { ok: true, session } });
      });
      test.each([
        ["lines", 1],
        ["lines", 5_000],
        ["timeout_ms", 100],
        ["timeout_ms", 120_000],
        ["wait_ms", 0],
        ["wait_ms", 120_000],
        ["text", "x".repeat(8_000)],
        ["keys", ["x", " ", "C-M-S-Up"]],
      ])("%s: the bound itself is accepted", async (field, value) => {
        expect((await client.tmux({ action: "list_sessions", [field]: value })).status).toBe(200);
      });
    });

    describe("§3 actions", () => {
      const absent = ["send_keys", "capture_pane", "send_and_capture", "kill_session"];
      test.each(absent)("A2 %s: an unknown session → 404, whatever it is a prefix of", async (action) => {
        const name = sessionName();
        const session = await createdSession(`${name}-2`);
        for (const absentName of [name, `${name}-`, `${session}x`]) {
          expect(await client.tmux({ action, session: absentName, text: "stray" })).toMatchObject(
            refused(404, `Session not found: ${absentName}`),
          );
        }
        expect((await client.tmux({ action: "list_sessions" })).json["sessions"]).toContain(session);
        // The shell's own prompt may come at any moment.
        const { json } = await client.tmux({ action: "capture_pane", session });
        expect(json["output"]).not.toContain("stray");
      });

      test("list_sessions: sorted names", async () => {
        const names = [`${sessionName()}-b`, `${sessionName()}-a`];
        for (const session of names) await client.tmux({ action: "create_session", session });
        const { json } = await client.tmux({ action: "list_sessions" });
        const listed = json["sessions"] as string[];
        expect(Object.keys(json).sort()).toEqual(["action", "ok", "sessions"]);
        expect(listed).toEqual([...listed].sort());
        expect(listed).toEqual(expect.arrayContaining(names));
      });

      test("create_session: the response, and health counts it", async () => {
        const session = sessionName();
        const before = (await client.health()).json["sessions"] as number;
        const created = await client.tmux({ action: "create_session", session, cwd: directory });
        expect(created.json).toEqual({ ok: true, action: "create_session", session });
        expect((await client.health()).json["sessions"]).toBe(before + 1);
      });
      test("create_session: an auto name is pi- and eight hex digits", async () => {
        const { json } = await client.tmux({ action: "create_session" });
        expect(json["session"]).toMatch(/^pi-[0-9a-f]{8}$/);
      });
      test("create_session: an existing name → 409", async () => {
        const session = await createdSession();
        const words = backend.name === "stub" ? "Session already exists" : "duplicate session";
        expect(await client.tmux({ action: "create_session", session })).toMatchObject(
          refused(409, `${words}: ${session}`),
        );
      });

      test("kill_session: the response, and it is gone", async () => {
        const session = await createdSession();
        const killed = await client.tmux({ action: "kill_session", session });
        expect(killed.json).toEqual({ ok: true, action: "kill_session", session });
        expect(await client.tmux({ action: "kill_session", session })).toMatchObject(
          refused(404, `Session not found: ${session}`),
        );
      });

      test.each(["a.b", "a:0", "a:b.c"])("A3 a session asked for as %s is found again", async (suffix) => {
        const asked = `${sessionName()}.${suffix}`;
        const created = await client.tmux({ action: "create_session", session: asked });
        const given = created.json["session"] as string;
        for (const session of [asked, given]) {
          expect(await client.tmux({ action: "capture_pane", session })).toMatchObject({
            status: 200,
            json: { session: given },
          });
        }
        expect((await client.tmux({ action: "kill_session", session: asked })).status).toBe(200);
      });

      test("send_keys: the response, at once whatever wait_ms and wait_for say", async () => {
        const session = await createdSession();
        const request = { action: "send_keys", session, text: "true", enter: true, wait_ms: 60_000, wait_for: "never" };
        expect((await client.tmux(request)).json).toEqual({ ok: true, action: "send_keys", session });
      });

      test("capture_pane: the response and its metadata", async () => {
        const session = await createdSession();
        const { json } = await client.tmux({ action: "capture_pane", session });
        expect(Object.keys(json).sort()).toEqual(["action", "metadata", "ok", "output", "session"]);
        const metadata = json["metadata"] as Record<string, unknown>;
        expect(Object.keys(metadata).sort()).toEqual(["elapsedMs", "epoch", "outputSeq"]);
        expect(metadata["outputSeq"]).toBeTypeOf("number");
        expect(metadata["epoch"]).toMatch(/^[0-9A-Za-z]{1,32}$/);
      });
      test("capture_pane: wait_ms passes before the capture, wait_for does not matter", async () => {
        const session = await createdSession();
        const { json } = await client.tmux({ action: "capture_pane", session, wait_ms: 120, wait_for: "never" });
        expect(elapsedMsOf(json)).toBeGreaterThanOrEqual(119);
        expect(elapsedMsOf(json)).toBeLessThan(5_000);
      });

      test("send_and_capture: without wait_for it captures without waiting for timeout_ms", async () => {
        const session = await createdSession();
        const request = { action: "send_and_capture", session, text: "marker-1", timeout_ms: 120_000 };
        const { status, json } = await client.tmux(request);
        expect(status).toBe(200);
        expect(elapsedMsOf(json)).toBeLessThan(5_000);
        // A shell that the machine keeps waiting echoes after the capture.
        await eventually(async () => {
          const { json: later } = await client.tmux({ action: "capture_pane", session });
          return String(later["output"]).includes("marker-1");
        }, 20);
      });
      test("send_and_capture: a match ends the wait, and says what matched", async () => {
        const session = await createdSession();
        const { status, json } = await client.tmux({
          action: "send_and_capture",
          session,
          text: printing("mark", "er"),
          enter: true,
          wait_for: "^mark-e(r|s)",
          timeout_ms: 20_000,
        });
        expect(status).toBe(200);
        expect(json).toMatchObject({
          ok: true,
          action: "send_and_capture",
          session,
          metadata: { matchedText: "mark-er" },
        });
        expect(json["output"]).toMatch(/^mark-er/m);
        expect(elapsedMsOf(json)).toBeLessThan(15_000);
      });
      test("send_and_capture: wait_ms is waited out even after a match", async () => {
        const session = await createdSession();
        const typed = { text: printing("mark", "er"), enter: true, wait_for: "^mark-er" };
        const { status, json } = await client.tmux({ action: "send_and_capture", session, ...typed, wait_ms: 150 });
        expect([status, elapsedMsOf(json) >= 149]).toEqual([200, true]);
      });
      test("send_and_capture: no match → 408 with the last capture, after wait_ms and timeout_ms", async () => {
        const session = await createdSession();
        const { status, json } = await client.tmux({
          action: "send_and_capture",
          session,
          text: "seen-it",
          wait_for: "NEVER",
          wait_ms: 100,
          timeout_ms: 150,
        });
        expect(status).toBe(408);
        expect(json["ok"]).toBe(false);
        expect(json["error"]).toBe("wait_for regex did not match before timeout (150ms).");
        const metadata = json["metadata"] as Record<string, unknown>;
        expect(Object.keys(metadata).sort()).toEqual(["elapsedMs", "epoch", "output", "outputSeq"]);
        expect(metadata["output"]).toContain("seen-it");
        expect(elapsedMsOf(json)).toBeGreaterThanOrEqual(249);
      });
      test("A6 send_and_capture: what was there before the send does not match", async () => {
        const session = await createdSession();
        const first = { action: "send_and_capture", session, text: printing("mark", "er"), enter: true };
        expect((await client.tmux({ ...first, wait_for: "^mark-er" })).status).toBe(200);
        const second = { action: "send_and_capture", session, text: ": later", wait_for: "mark-er", timeout_ms: 200 };
        expect((await client.tmux(second)).status).toBe(408);
      });
      test("send_and_capture: the session ends during the wait → 404", async () => {
        const session = await createdSession();
        const request = { action: "send_and_capture", session, keys: ["x"], wait_for: "never", timeout_ms: 60_000 };
        const waiting = client.tmux(request);
        const shown = async (): Promise<unknown> =>
          (await client.tmux({ action: "capture_pane", session })).json["output"];
        await expect.poll(shown, { timeout: 5_000 }).toContain("x");
        await client.tmux({ action: "kill_session", session });
        expect(await waiting).toMatchObject(refused(404, `Session not found: ${session}`));
      });

      test("A5 many texts at once arrive whole", async () => {
        const session = await createdSession();
        const texts = Array.from({ length: 20 }, (_unused, index) => `: whole-${index}-${"x".repeat(20)}`);
        const sent = await Promise.all(
          texts.map((text) => client.tmux({ action: "send_keys", session, text, enter: true })),
        );
        expect(sent.map((answer: Answer) => answer.status)).toEqual(texts.map(() => 200));
        const output = async (): Promise<string> =>
          (await client.tmux({ action: "capture_pane", session, lines: 5_000 })).json["output"] as string;
        const missing = async (): Promise<string[]> => {
          const screen = await output();
          return texts.filter((text) => !hasLine(screen, text));
        };
        await expect.poll(missing, { timeout: 10_000 }).toEqual([]);
      });
    });
  });
}

const elapsedMsOf = (json: Record<string, unknown>): number =>
  (json["metadata"] as { readonly elapsedMs: number }).elapsedMs;

/** Whether one line of a screen ends in `text`, the stub's `<Enter>` aside. */
const hasLine = (screen: string, text: string): boolean =>
  screen.split("\n").some((line) => line.replace(/ <Enter>$/, "").endsWith(text));
