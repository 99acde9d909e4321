/** The commands of `freshell`: every form of the contract with `--json`, what each asks of the server or refuses, and exit codes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freshellProgram } from "../../../../adapters/freshell/cli/freshellProgram.ts";
import { OPERATION_ERROR_CODES } from "../../../../protocol/api/freshell/freshellErrors.ts";
import { ERROR_SURFACES } from "../../../../protocol/errors.ts";
import { FreshellFake, runFreshell, send } from "../../../support/freshell/freshellFake.ts";

let fake: FreshellFake;
beforeAll(async () => {
  fake = await FreshellFake.start();
});
beforeEach(() => {
  fake.asked.length = 0;
  fake.answer = ({ method, path }, response) => {
    const [, answer] = ANSWERS.find(([begin]) => path.startsWith(begin) || `${method} ${path}`.startsWith(begin)) ?? [];
    send(response, 200, answer);
  };
});
afterAll(() => fake[Symbol.asyncDispose]());

const ENTRY = {
  terminalId: "V1StGXR8_Z5jdHi6B-myT",
  title: "t",
  mode: "shell",
  status: "running",
  createdAt: 1,
  lastActivityAt: 1,
  cwd: "/",
  cols: 80,
  rows: 24,
  hasClients: false,
  pid: 1,
  bufferRef: { outputSeq: 9, tailSeq: 0 },
};
const SESSION = {
  provider: "sdk",
  codingProvider: "claude",
  sessionId: "1:2",
  status: "exited",
  createdAt: 1,
  updatedAt: 1,
  cwd: "/",
  pid: null,
  exitCode: 143,
  openPermissions: 0,
  bufferRef: { outputSeq: 9, tailSeq: 0 },
};
const ANSWERS: readonly (readonly [string, unknown])[] = [
  [
    "/api/terminals/V1StGXR8_Z5jdHi6B-myT/capture",
    { lines: ["a", ""], outputSeq: 9, exact: true, cols: 80, rows: 24, status: "running" },
  ],
  ["/api/terminals/V1StGXR8_Z5jdHi6B-myT/input", { outputSeq: 9 }],
  ["/api/terminals/V1StGXR8_Z5jdHi6B-myT/kill", { ok: true, exitCode: 129 }],
  ["/api/terminals/V1StGXR8_Z5jdHi6B-myT/respawn", ENTRY],
  ["/api/terminals", [ENTRY]],
  ["/api/waits", { matched: [{ predicate: "pattern", text: "done", outputSeq: 9 }], outputSeq: 9, elapsedMs: 3 }],
  [
    "/api/devices",
    [{ deviceId: "d", deviceLabel: "d", deviceType: "cli", online: true, lastSeenAt: 1, workspaceRevision: 3 }],
  ],
  ["/api/agent-sessions/sdk/1%3A2/send", { outputSeq: 9 }],
  [
    "/api/agent-sessions/sdk/1%3A2/permissions",
    [{ requestId: "r", subtype: "can_use_tool", tool: { name: "Bash", input: { command: "\u001b[2Jls" } } }],
  ],
  ["/api/agent-sessions/sdk/1%3A2/answer", { ok: true }],
  ["/api/agent-sessions/sdk/1%3A2", { ok: true, exitCode: 143 }],
  ["POST /api/agent-sessions", SESSION],
  ["/api/agent-sessions", [SESSION]],
  ["/api/health", { app: "freshell", ok: true, version: "1.0.0", ready: true }],
  ["/api/lan-info", { ips: ["192.0.2.1"] }],
];

const T = "--target terminal:V1StGXR8_Z5jdHi6B-myT";
/** What is served, with every option of the contract. */
const SERVED = [
  "list-terminals",
  "list-devices",
  `send-keys ${T} --tab tab:1 --device d -l Enter`,
  `capture-pane ${T} --tab tab-index:1 --device d -S -5 -J -e`,
  `wait-for ${T} --tab tab-name:x --device d --from tail:5 -p x --literal --stable 1 --exit --prompt -T 5`,
  `wait-for ${T} --pattern x --regex`,
  `respawn-terminal ${T}`,
  `kill-terminal ${T}`,
  "health",
  "lan-info",
];
/** What is a device's: it parses, and no device of this server's is online. */
const OF_DEVICES = [
  "device-status --device d",
  "new-tab --device d -n x --shell system --cwd /tmp --expected-revision 3 --idempotency-key k",
  "new-tab --device d --shell",
  "list-tabs --device d --allow-stale",
  "select-tab --device d --target tab:1 --expected-revision 3",
  "kill-tab --device d --target tab-name:x --expected-revision 3",
  "rename-tab --device d --target tab-index:0 x --expected-revision 3",
  "split-pane --device d --target pane:1 --tab tab:1 --direction vertical --shell zsh --expected-revision 3 --idempotency-key k",
  "split-pane --device d --target pane-index:1 --tab tab:1 --direction horizontal --browser http://x",
  "split-pane --device d --target pane:1 --direction horizontal --editor f",
  "split-pane --device d --target pane:1 --direction horizontal --shell",
  "list-panes --device d --tab tab:1 --allow-stale",
  "select-pane --device d --target pane:1 --tab tab:1 --expected-revision 3",
  "kill-pane --device d --target pane:1 --tab tab:1 --expected-revision 3",
  "resize-pane --device d --target pane:1 --tab tab:1 -x 10 -y 20 --expected-revision 3",
  "swap-pane --device d --source pane:1 --target pane:2 --tab tab:1 --expected-revision 3",
  "open-browser --device d --target pane:1 --tab tab:1 http://x --expected-revision 3",
  "navigate --device d --target pane:1 --tab tab:1 http://x --expected-revision 3",
  "open-editor --device d --target pane:1 --tab tab:1 f --expected-revision 3",
  "respawn-pane --target pane:1 --tab tab:1 --device d --expected-revision 3 --idempotency-key k",
  "attach-terminal --target terminal:x --to pane:1 --tab tab:1 --device d --expected-revision 3 --idempotency-key k",
  "display --device d -p %tabId --target pane:1 --tab tab:1",
];
const OF_SESSIONS = [
  "session-create --provider sdk --cwd /tmp --resume-session-id x --model m --permission-mode plan --effort max",
  "session-create --provider codingcli --coding-provider kimi --prompt x --cwd /tmp --resume-session-id x --model m --max-turns 3 --permission-mode plan --sandbox read-only",
  "session-list --provider sdk",
  "session-list",
  "session-send --target session:sdk:1:2 x y",
  "session-wait --target session:sdk:1:2 --from now -p x --regex --stable 1 -T 3",
  "session-wait --target session:sdk:1:2 --exit",
  "wait-for --target session:sdk:1:2 --exit",
  "session-answer --target session:sdk:1:2",
  "session-answer --target session:sdk:1:2 r deny --message x",
  "session-kill --target session:sdk:1:2",
];

const one = (out: string): unknown => {
  expect(out.endsWith("\n")).toBe(true);
  return JSON.parse(out);
};

describe("F221 F219 every form of the contract parses and takes --json", () => {
  test.each([...SERVED, ...OF_SESSIONS].map((line) => [line]))("%s", async (line) => {
    const [command = "", ...rest] = line.split(" ");
    for (const args of [
      [command, "--json", ...rest],
      [...line.split(" "), "--json"],
    ]) {
      const { code, out, err } = await fake.run(args);
      expect([code, err]).toEqual([0, ""]);
      const document = one(out) as { status: string; data: unknown };
      expect(document.status).toBe("ok");
      expect(document.data).toBeDefined();
    }
    expect((await fake.run(line.split(" "))).code).toBe(0);
  });

  test.each(OF_DEVICES.map((line) => [line]))("%s", async (line) => {
    fake.fails({ code: "DEVICE_OFFLINE", message: "it is not online", stage: "relay" }, 503);
    const { code, out, err } = await fake.run([...line.split(" "), "--json"]);
    expect(one(out)).toMatchObject({ status: "error", code: "DEVICE_OFFLINE", stage: "relay" });
    expect([code, err.split("\n").length, fake.asked.length]).toEqual([5, 2, 1]);
  });

  test("and no command of the table is missing here", () => {
    const named = [...SERVED, ...OF_DEVICES, ...OF_SESSIONS].map((line) => line.split(" ")[0]);
    const table = freshellProgram(() => "", []).commands.map(({ name }) => name);
    expect(new Set(table)).toEqual(new Set([...named, "auth", "device"]));
  });
});

describe("F217 F218 F214 an error has its exit code, one line on stderr and one document on stdout", () => {
  test.each(OPERATION_ERROR_CODES.map((code) => [code]))("%s", async (code) => {
    fake.fails({ code, message: "what\nto do", details: { a: 1 }, stage: "owner" });
    const expected = ERROR_SURFACES[code].exitCode;
    const told = { status: "error", code, message: "what\nto do", details: { a: 1 }, stage: "owner" };
    const json = await fake.run(["list-terminals", "--json"]);
    expect([json.code, one(json.out)]).toEqual([expected, told]);
    expect(await fake.run(["list-terminals"])).toEqual({
      code: expected,
      out: "",
      err: `freshell: what to do (${code})\n`,
    });
  });

  test("the exit codes are those of the contract", () => {
    const codes = Object.fromEntries(OPERATION_ERROR_CODES.map((code) => [code, ERROR_SURFACES[code].exitCode]));
    expect(codes).toEqual({
      INTERNAL_ERROR: 1,
      INCONSISTENT_STATE: 1,
      INVALID_ARGUMENT: 2,
      NOT_FOUND: 3,
      AMBIGUOUS_TARGET: 4,
      INVALID_TARGET: 4,
      DEVICE_OFFLINE: 5,
      UNAUTHORIZED: 6,
      REVISION_CONFLICT: 7,
      RESOURCE_LIMIT: 8,
      UNSUPPORTED_PATTERN_ENGINE: 8,
      UNSUPPORTED_CAPTURE_MODE: 8,
      RPC_TIMEOUT: 9,
      OWNER_TIMEOUT: 9,
      TIMEOUT: 124,
    });
  });

  test("details are there when there are none, and no stage", async () => {
    fake.fails({ code: "NOT_FOUND", message: "no" }, 404);
    const { out } = await fake.run(["list-terminals", "--json"]);
    expect(one(out)).toEqual({ status: "error", code: "NOT_FOUND", message: "no", details: {} });
  });

  test("a code that this version does not know is an error of the server's", async () => {
    fake.fails({ code: "TEAPOT", message: "short and stout" }, 418);
    const { code, out } = await fake.run(["list-terminals", "--json"]);
    expect([code, one(out)]).toMatchObject([1, { code: "INTERNAL_ERROR", details: { cause: "TEAPOT" } }]);
  });

  test("a message cannot steer the terminal it is shown on", async () => {
    fake.fails({ code: "NOT_FOUND", message: "no \u001b[2Jterminal\u202e" });
    expect((await fake.run(["list-terminals"])).err).toBe("freshell: no �[2Jterminal� (NOT_FOUND)\n");
  });
});

describe("F007 F043 F044 F045 a target that a command does not serve", () => {
  const ways: readonly (readonly [string, string, number])[] = [
    ["send-keys --target 0:1.2 x", "INVALID_ARGUMENT", 2],
    ["send-keys x", "INVALID_ARGUMENT", 2],
    ["send-keys --target pane-index:1 x", "INVALID_ARGUMENT", 2],
    ["send-keys --target pane-index:1 --tab pane:1 x", "INVALID_TARGET", 4],
    ["send-keys --target tab:1 x", "INVALID_TARGET", 4],
    ["send-keys --target session:sdk:1 x", "INVALID_TARGET", 4],
    ["capture-pane --target session:sdk:1", "INVALID_TARGET", 4],
    ["wait-for --target tab-name:x --exit", "INVALID_TARGET", 4],
    ["session-send --target terminal:x hi", "INVALID_TARGET", 4],
    ["session-wait --target session:sdk:1 --prompt", "INVALID_ARGUMENT", 2],
    ["session-create", "INVALID_ARGUMENT", 2],
    ["session-answer --target session:sdk:1 r", "INVALID_ARGUMENT", 2],
    ["session-answer --target session:sdk:1 r allow --message x", "INVALID_ARGUMENT", 2],
    ["session-create --provider codingcli --prompt x", "INVALID_ARGUMENT", 2],
    ["session-create --provider codingcli --coding-provider claude", "INVALID_ARGUMENT", 2],
    ["session-create --provider sdk --prompt x", "INVALID_ARGUMENT", 2],
    ["kill-terminal --target pane:1", "INVALID_TARGET", 4],
    ["respawn-terminal --target tab-index:1", "INVALID_TARGET", 4],
  ];

  test.each(ways)("%s: %s", async (line, code, exitCode) => {
    const ended = await fake.run([...line.split(" "), "--json"]);
    expect([ended.code, one(ended.out)]).toMatchObject([exitCode, { code }]);
    expect(fake.asked).toEqual([]);
  });
});

describe("bad input is refused before anything is asked", () => {
  test.each([
    ["wait-for", T.split(" "), /needs something to wait for/],
    ["wait-for", [...T.split(" "), "-p", "x", "--literal", "--regex"], /not both/],
    ["wait-for", [...T.split(" "), "--exit", "--regex"], /give -p PATTERN/],
    ["capture-pane", [...T.split(" "), "-S", "abc"], /-S takes a line number or -, not "abc"/],
    ["capture-pane", [...T.split(" "), "-S", "1.5"], /-S takes a line number/],
    ["send-keys", [...T.split(" "), "ok", "a\u{fffd}b"], /token 2 is not valid UTF-8/],
  ] as const)("%s %j", async (command, args, message) => {
    const { code, out, err } = await fake.run([command, ...args]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message);
    expect(fake.asked).toEqual([]);
  });

  test.each(["new-window", "split-window", "kill-window", "ls"])("F228 there is no command %s", async (name) => {
    const { code, err } = await runFreshell([name], {});
    expect(code).toBe(2);
    expect(err).toMatch(/^freshell: there is no command .*(?:`freshell help` lists|did you mean)/);
  });
});

describe("what is asked of the server", () => {
  const asked = async (...args: string[]) => {
    await fake.run(args);
    const [only, ...more] = fake.asked;
    expect(more).toEqual([]);
    return { method: only?.method, path: only?.path, body: only?.body };
  };
  const target = T.split(" ");
  const of = "/api/terminals/V1StGXR8_Z5jdHi6B-myT";

  test("F229 send-keys: the tokens as they stand, in one request", async () => {
    expect(await asked("send-keys", ...target, "a b", "Enter", "", "é")).toEqual({
      method: "POST",
      path: `${of}/input`,
      body: { keys: ["a b", "Enter", "", "é"], literal: false },
    });
    fake.asked.length = 0;
    expect((await asked("send-keys", ...target, "-l", "--", "-l", "--json")).body).toEqual({
      keys: ["-l", "--json"],
      literal: true,
    });
  });

  test.each([
    [[], ""],
    [["-S", "-"], "?S=-"],
    [["-J", "-e", "-S", "0"], "?S=0&J=1&e=1"],
  ])("capture-pane %j", async (options, query) => {
    expect(await asked("capture-pane", ...target, ...options)).toMatchObject({
      method: "GET",
      path: `${of}/capture${query}`,
    });
  });

  const session = ["--target", "session:codex:a:b/c"];
  test.each([
    [["session-list"], "GET", "", undefined],
    [["session-list", "--provider", "codex"], "GET", "?provider=codex", undefined],
    [["session-send", ...session, "two", "words"], "POST", "/codex/a%3Ab%2Fc/send", { text: "two words" }],
    [["session-answer", ...session], "GET", "/codex/a%3Ab%2Fc/permissions", undefined],
    [
      ["session-answer", ...session, "r", "deny", "--message", "-no"],
      "POST",
      "/codex/a%3Ab%2Fc/answer",
      { requestId: "r", behavior: "deny", message: "-no" },
    ],
    [
      ["session-answer", ...session, "r", "allow"],
      "POST",
      "/codex/a%3Ab%2Fc/answer",
      { requestId: "r", behavior: "allow" },
    ],
    [["session-kill", ...session], "DELETE", "/codex/a%3Ab%2Fc", undefined],
    [
      "session-create --provider sdk --cwd /tmp --model m --effort max --resume-session-id i".split(" "),
      "POST",
      "",
      { provider: "sdk", cwd: "/tmp", model: "m", effort: "max", resumeSessionId: "i" },
    ],
    [
      ["session-create", "--provider", "codingcli", "--coding-provider", "codex", "--prompt", "-x", "--max-turns", "3"],
      "POST",
      "",
      { provider: "codingcli", codingProvider: "codex", prompt: "-x", maxTurns: 3 },
    ],
  ])("F140 F143 F147 F148 F150 %j", async (args, method, path, body) => {
    const request = await asked(...args);
    expect(request).toMatchObject({
      method,
      path: `/api/agent-sessions${path}`,
      ...(body === undefined ? {} : { body }),
    });
  });

  test.each(["session-wait", "wait-for"])("F149 %s on a session", async (name) => {
    const named = { sessionRef: { provider: "codex", sessionId: "a:b/c" } };
    expect(await asked(name, ...session, "-p", "x", "--from", "tail:2", "--exit")).toEqual({
      method: "POST",
      path: "/api/waits",
      body: { target: named, pattern: "x", from: "tail:2", exit: true },
    });
  });

  test("capture-pane prints lines as tmux does", async () => {
    expect(await fake.run(["capture-pane", ...target])).toEqual({ code: 0, out: "a\n\n", err: "" });
  });

  test("wait-for", async () => {
    expect(
      await asked(
        "wait-for",
        ...target,
        "-p",
        "-x",
        "--regex",
        "--from",
        "tail:3",
        "--stable",
        "0.5",
        "--exit",
        "--prompt",
        "-T",
        "4000",
      ),
    ).toEqual({
      method: "POST",
      path: "/api/waits",
      body: {
        target: { terminalId: "V1StGXR8_Z5jdHi6B-myT" },
        pattern: "-x",
        regex: true,
        from: "tail:3",
        stableSec: 0.5,
        exit: true,
        prompt: true,
        timeoutSec: 4_000,
      },
    });
    fake.asked.length = 0;
    expect((await asked("wait-for", ...target, "--exit")).body).toEqual({
      target: { terminalId: "V1StGXR8_Z5jdHi6B-myT" },
      exit: true,
    });
  });

  test("a wait in vain for the text of a regular expression says so, one for text does not", async () => {
    fake.answer = (_asked, response) => send(response, 408, { error: { code: "TIMEOUT", message: "not satisfied" } });
    const errorOf = async (...pattern: string[]) => (await fake.run(["wait-for", ...target, ...pattern])).err;
    for (const pattern of ["^done", "done$", "a.*b", "PASS|FAIL", "\\d+ ok"]) {
      expect(await errorOf("-p", pattern)).toMatch(/not satisfied; the pattern was taken as text: add --regex/);
    }
    for (const pattern of ["done", "$ ", "1.5 s", "a || b", "[ok]"]) {
      expect(await errorOf("-p", pattern)).not.toMatch(/--regex/);
    }
    expect(await errorOf("-p", "^done", "--regex")).not.toMatch(/taken as text/);
  });

  test("what a program has printed cannot steer the terminal it is shown on", async () => {
    const matched = [{ predicate: "pattern", text: "a\u001b]0;x\u0007" }, { predicate: "exit" }];
    fake.answer = (_asked, response) => send(response, 200, { matched, outputSeq: 1, exitCode: 3, elapsedMs: 1 });
    expect((await fake.run(["wait-for", ...target, "-p", "a"])).out).toBe("pattern: a�]0;x�\nexit: 3\n");
    fake.answer = (_asked, response) => send(response, 200, [{ ...ENTRY, title: "\u001b[2J", cwd: "/a\nb" }]);
    const { out } = await fake.run(["list-terminals"]);
    expect([out.includes("\u001b"), out.includes("a\nb")]).toEqual([false, false]);
  });
});
