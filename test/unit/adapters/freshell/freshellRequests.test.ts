/** What `freshell` asks of the server, and what it refuses before it asks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FreshellFake, runFreshell, send } from "../../../support/freshell/freshellFake.ts";

let fake: FreshellFake;
beforeAll(async () => {
  fake = await FreshellFake.start();
});
beforeEach(() => {
  fake.asked.length = 0;
  fake.answer = ({ path }, response) => send(response, 200, ANSWERS.find(([prefix]) => path.startsWith(prefix))?.[1]);
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
  ["/api/health", { app: "freshell", ok: true, version: "1.0.0", ready: true }],
  ["/api/lan-info", { ips: ["192.0.2.1"] }],
];

const T = "--target terminal:V1StGXR8_Z5jdHi6B-myT";
const one = (out: string): unknown => {
  expect(out.endsWith("\n")).toBe(true);
  return JSON.parse(out);
};

describe("F007 F043 F044 F045 a target that a command does not serve", () => {
  const ways: readonly (readonly [string, string, number])[] = [
    ["send-keys --target 0:1.2 x", "INVALID_ARGUMENT", 2],
    ["send-keys --target abc x", "INVALID_ARGUMENT", 2],
    ["send-keys --target foo:1 x", "INVALID_ARGUMENT", 2],
    ["send-keys --target pane: x", "INVALID_ARGUMENT", 2],
    ["send-keys --target= x", "INVALID_ARGUMENT", 2],
    ["send-keys x", "INVALID_ARGUMENT", 2],
    ["send-keys --target terminal:a/../b x", "INVALID_ARGUMENT", 2],
    ["send-keys --target pane-index:1 x", "INVALID_ARGUMENT", 2],
    ["send-keys --target pane-index:1 --tab pane:1 x", "INVALID_TARGET", 4],
    ["send-keys --target tab:1 x", "INVALID_TARGET", 4],
    ["send-keys --target session:sdk:1 x", "INVALID_TARGET", 4],
    ["capture-pane --target session:sdk:1", "INVALID_TARGET", 4],
    ["wait-for --target tab-name:x --exit", "INVALID_TARGET", 4],
    ["session-send --target terminal:x hi", "INVALID_TARGET", 4],
    ["session-kill --target pane:1", "INVALID_TARGET", 4],
    ["session-wait --target session:vim:1 --exit", "INVALID_ARGUMENT", 2],
    ["session-wait --target session:sdk:1 --prompt", "INVALID_ARGUMENT", 2],
    ["session-wait --target session:sdk:1", "INVALID_ARGUMENT", 2],
    ["session-create", "INVALID_ARGUMENT", 2],
    ["session-answer", "INVALID_ARGUMENT", 2],
    ["session-answer --target session:sdk:1 r", "INVALID_ARGUMENT", 2],
    ["session-answer --target session:sdk:1 r perhaps", "INVALID_ARGUMENT", 2],
    ["session-answer --target session:sdk:1 r allow --message x", "INVALID_ARGUMENT", 2],
    ["session-create --provider claude", "INVALID_ARGUMENT", 2],
    ["session-create --provider codingcli --prompt x", "INVALID_ARGUMENT", 2],
    ["session-create --provider codingcli --coding-provider claude", "INVALID_ARGUMENT", 2],
    ["session-create --provider sdk --prompt x", "INVALID_ARGUMENT", 2],
    ["session-create --provider sdk --effort extreme", "INVALID_ARGUMENT", 2],
    ["kill-terminal --target pane:1", "INVALID_TARGET", 4],
    ["kill-terminal --target session:sdk:1", "INVALID_TARGET", 4],
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
    ["wait-for", [...T.split(" "), "-p"], /-p needs a value/],
    ["wait-for", [...T.split(" "), "-p", "--regex"], /-p needs a value/],
    ["wait-for", [...T.split(" "), "--stable", "-1"], /--stable needs a value/],
    ["wait-for", [...T.split(" "), "--stable", "NaN"], /--stable must be a number/],
    ["wait-for", [...T.split(" "), "--exit", "-T", "soon"], /-T must be a number/],
    ["capture-pane", [...T.split(" "), "-S", "abc"], /-S takes a line number or -, not "abc"/],
    ["capture-pane", [...T.split(" "), "-S", ""], /-S takes a line number/],
    ["capture-pane", [...T.split(" "), "-S", "1.5"], /-S takes a line number/],
    ["capture-pane", [...T.split(" "), "-S", "NaN"], /-S takes a line number/],
    ["capture-pane", [...T.split(" "), "-S", "-J"], /-S needs a value/],
    ["send-keys", T.split(" "), /missing KEYS/],
    [
      "send-keys",
      [...T.split(" "), "ls", "-l", "Enter"],
      /-l after "ls" could be an option or a word: put options before KEYS, and -- before/,
    ],
    ["send-keys", [...T.split(" "), "ls", "-la"], /-l after "ls"/],
    ["send-keys", [...T.split(" "), "make", "--jobs"], /--jobs after "make" could be an option or a word/],
    ["send-keys", [...T.split(" "), "ok", "a\u{fffd}b"], /token 2 is not valid UTF-8/],
    ["send-keys", ["-t", "terminal:x", "y"], /send-keys has no option -t/],
    ["send-keys", ["--targt", "terminal:x", "y"], /did you mean --target\?/],
    ["list-terminals", ["x"], /unexpected argument "x"/],
    ["list-terminals", ["--wat"], /no option --wat/],
  ] as const)("%s %j", async (command, args, message) => {
    const { code, out, err } = await fake.run([command, ...args]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message);
    expect(fake.asked).toEqual([]);
  });

  test.each(["new-window", "split-window", "list-sessions", "attach", "kill-window", "ls", "sendkeys"])(
    "F228 there is no command %s",
    async (name) => {
      const { code, err } = await runFreshell([name], {});
      expect(code).toBe(2);
      expect(err).toMatch(/^freshell: there is no command .*(?:`freshell help` lists|did you mean)/);
    },
  );
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
    [["-S", "-5"], "?S=-5"],
    [["-S-5"], "?S=-5"],
    [["-S", "-"], "?S=-"],
    [["-J", "-e", "-S", "0"], "?S=0&J=1&e=1"],
    [["-Je"], "?J=1&e=1"],
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
      [
        "session-create",
        "--provider",
        "sdk",
        "--cwd",
        "/tmp",
        "--model",
        "m",
        "--effort",
        "max",
        "--resume-session-id",
        "i",
      ],
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
