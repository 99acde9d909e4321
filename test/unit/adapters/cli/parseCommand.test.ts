import { describe, expect, test } from "vitest";
import type { CommandSpec } from "../../../../adapters/cli/commandTypes.ts";
import { findCommand, parseCommand } from "../../../../adapters/cli/parseCommand.ts";
import { AppError } from "../../../../protocol/errors.ts";

const command: CommandSpec = {
  name: "try",
  summary: "a command for tests",
  positionals: [
    { name: "PANE", description: "a pane" },
    { name: "HOW", description: "in which way", optional: true, choices: ["fast", "slow"] },
  ],
  options: [
    { name: "text", short: "t", type: "text", value: "TEXT", description: "some text" },
    { name: "lines", short: "n", type: "number", value: "N", description: "a number", min: 1, max: 5_000 },
    { name: "seconds", type: "number", value: "S", description: "a duration", min: 0.5 },
    { name: "key", type: "list", value: "KEY", description: "a key" },
    { name: "mode", type: "text", value: "MODE", description: "a mode", choices: ["tmux", "stub"] },
    { name: "enter", short: "e", type: "flag", description: "press Enter" },
    {
      name: "state",
      type: "text",
      value: "STATE",
      description: "a state",
      choices: ["idle", "busy"],
      implied: "idle",
    },
    { name: "start", short: "S", type: "text", value: "LINE", description: "a line", dashed: true },
  ],
  examples: [],
  run: () => 0,
};
const rest: CommandSpec = {
  ...command,
  positionals: [
    { name: "PANE", description: "a pane" },
    { name: "TEXT", description: "what to type", many: true },
  ],
};

const refusal = (spec: CommandSpec, ...args: string[]): string => {
  try {
    parseCommand("tmuxwire", spec, args);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe("INVALID_ARGUMENT");
    expect((error as AppError).message).not.toContain("\n");
    return (error as AppError).message;
  }
  throw new Error("it was accepted");
};

describe("values", () => {
  test("of each type, long and short, joined and apart", () => {
    const args = [
      "%5",
      "fast",
      "-t",
      "a b",
      "--lines=7",
      "--seconds",
      "0.5",
      "--key",
      "Up",
      "--key=C-c",
      "-e",
      "--mode",
      "stub",
    ];
    const { options, positionals, help } = parseCommand("tmuxwire", command, args);
    expect(positionals).toEqual(["%5", "fast"]);
    expect(help).toBe(false);
    expect(options.text("text")).toBe("a b");
    expect(options.number("lines")).toBe(7);
    expect(options.number("seconds")).toBe(0.5);
    expect(options.list("key")).toEqual(["Up", "C-c"]);
    expect(options.text("mode")).toBe("stub");
    expect(options.flag("enter")).toBe(true);
  });

  test("that were not given are absent", () => {
    const { options } = parseCommand("tmuxwire", command, ["%5"]);
    expect([options.text("text"), options.number("lines"), options.list("key"), options.flag("enter")]).toEqual([
      undefined,
      undefined,
      [],
      false,
    ]);
  });

  test("may begin with a dash when they are joined, and a lone dash is a value", () => {
    expect(parseCommand("tmuxwire", command, ["%5", "--text=--enter"]).options.text("text")).toBe("--enter");
    expect(parseCommand("tmuxwire", command, ["%5", "--text", "-"]).options.text("text")).toBe("-");
    expect(parseCommand("tmuxwire", command, ["%5", "--text="]).options.text("text")).toBe("");
    expect(parseCommand("tmuxwire", rest, ["%5", "-"]).positionals).toEqual(["%5", "-"]);
  });

  test("may begin with a dash where the option takes such values, unless it is an option of the command", () => {
    for (const args of [["-S", "-5"], ["-S-5"], ["--start", "-5"], ["--start=-5"]]) {
      expect(parseCommand("tmuxwire", command, ["%5", ...args]).options.text("start")).toBe("-5");
    }
    expect(refusal(command, "%5", "-S", "-e")).toMatch(/-S needs a value \(LINE\)/);
    expect(refusal(command, "%5", "-S", "--text")).toMatch(/-S needs a value/);
  });

  test("may be left out where one is implied, and the next word is not taken for it", () => {
    const { options, positionals } = parseCommand("tmuxwire", command, ["--state", "%5"]);
    expect([options.text("state"), positionals]).toEqual(["idle", ["%5"]]);
    expect(parseCommand("tmuxwire", command, ["%5", "--state=busy"]).options.text("state")).toBe("busy");
    expect(parseCommand("tmuxwire", command, ["%5"]).options.text("state")).toBeUndefined();
  });

  test("after -- are positionals whatever they look like", () => {
    expect(parseCommand("tmuxwire", rest, ["%5", "--", "--lines", "-x", "--"]).positionals).toEqual([
      "%5",
      "--lines",
      "-x",
      "--",
    ]);
  });
});

describe("what the table does not know is refused with one line", () => {
  test.each([
    [["%5", "--liens", "3"], /no option --liens; did you mean --lines\?/],
    [["%5", "--wat"], /no option --wat; see `tmuxwire help try`/],
    [["%5", "-x"], /no option -x/],
    [["%5", "--text"], /--text needs a value \(TEXT\)/],
    [["%5", "--text", "--enter"], /--text needs a value .*--text=-…/],
    [["%5", "--enter=1"], /--enter takes no value/],
    [["%5", "--state=asleep"], /--state must be one of idle, busy, not "asleep"/],
    [["%5", "--state="], /--state must be one of idle, busy, not ""/],
    [["%5", "--lines", "0"], /--lines must be a number from 1 to 5000, not "0"/],
    [["%5", "--lines", "5001"], /from 1 to 5000/],
    [["%5", "--lines", "1e3"], /not "1e3"/],
    [["%5", "--lines", " 3"], /not " 3"/],
    [["%5", "--lines="], /--lines must be a number/],
    [["%5", "--seconds", "0.1"], /of at least 0\.5/],
    [["%5", "--mode", "tmx"], /--mode must be one of tmux, stub, not "tmx"/],
    [["%5", "medium"], /HOW must be one of fast, slow, not "medium"/],
    [["%5", "fast", "more"], /unexpected argument "more"/],
    [[], /try: missing PANE \(a pane\)/],
  ])("%j", (args, message) => {
    expect(refusal(command, ...args)).toMatch(message);
  });

  test("a needed rest", () => {
    expect(refusal(rest, "%5")).toMatch(/missing TEXT/);
  });

  test.each([
    ["tr", /did you mean "try"\?/],
    ["tyr", /did you mean "try"\?/],
    ["something", /`tmuxwire help` lists the commands/],
    ["", /there is no command ""/],
    ["--server", /there is no command "--server"; put options after the command: \S+ COMMAND --server$/],
  ])("the command %j", (name, message) => {
    expect(() => findCommand({ name: "tmuxwire", commands: [command] }, name)).toThrow(message);
  });
});

test("--help asks for nothing else", () => {
  expect(parseCommand("tmuxwire", command, ["--help"]).help).toBe(true);
  expect(parseCommand("tmuxwire", command, ["-h", "%5"]).help).toBe(true);
});

describe("a command line for somebody else begins behind the words before it", () => {
  const theirs: CommandSpec = {
    ...command,
    positionals: [
      { name: "PANE", description: "a pane" },
      { name: "COMMAND", description: "a command", many: true, takesRest: true },
    ],
  };
  const parsed = (...args: string[]) => {
    const { options, positionals, help } = parseCommand("tmuxwire", theirs, args);
    return [options.all, positionals, help];
  };

  test.each([
    [["w", "ls", "-d", "/usr"], {}, ["w", "ls", "-d", "/usr"]],
    [["w", "ls", "--enter", "--json", "-n", "3"], {}, ["w", "ls", "--enter", "--json", "-n", "3"]],
    [["-n", "3", "--enter", "w", "ls", "-e"], { lines: 3, enter: true }, ["w", "ls", "-e"]],
    [["--state", "w", "ls"], { state: "idle" }, ["w", "ls"]],
    [["w", "ls", "--help"], {}, ["w", "ls", "--help"]],
    [["w", "--", "-x"], {}, ["w", "-x"]],
    [["w", "--", "ls", "--", "-x"], {}, ["w", "ls", "--", "-x"]],
    [["w", "--", "--", "x"], {}, ["w", "--", "x"]],
    [["--", "w", "ls", "-d"], {}, ["w", "ls", "-d"]],
    [["w", "-", "x"], {}, undefined],
    [["w", ""], {}, ["w", ""]],
  ])("%j", (args, options, positionals) => {
    if (positionals === undefined) expect(refusal(theirs, ...args)).toMatch(/is not a COMMAND/);
    else expect(parsed(...args)).toEqual([options, positionals, false]);
  });

  test("an option of ours behind them is not typed by mistake", () => {
    expect(refusal(theirs, "w", "-n", "3", "ls")).toMatch(/-n is not a COMMAND; put options before PANE, and --/);
    expect(refusal(theirs, "w", "--help")).toMatch(/--help is not a COMMAND/);
    expect(refusal(theirs, "w", "--")).toMatch(/missing COMMAND/);
    expect(refusal(theirs, "w")).toMatch(/missing COMMAND/);
    expect(parsed("--help", "w")[2]).toBe(true);
  });

  const withServer: CommandSpec = {
    ...theirs,
    options: [...theirs.options, { name: "server", type: "text", value: "NAME", description: "a server" }],
  };

  test.each([
    [["w", "make test", "--enter"], "--enter"],
    [["w", "ls", "--lines", "3"], "--lines 3"],
    [["w", "ls", "--lines=3"], "--lines=3"],
    [["w", "ls", "-d", "--server", "main"], "--server main"],
    [["w", "ls", "-d", "--server=main"], "--server=main"],
  ])("%j: one at its end is told before anything is typed", (args, option) => {
    expect(refusal(withServer, ...args)).toBe(
      `try: ${option} behind PANE would be part of the command; put it before PANE, or -- before the command if that is ` +
        "what you mean; see `tmuxwire help try`",
    );
    const [pane = "", ...words] = args;
    expect(parseCommand("tmuxwire", withServer, [pane, "--", ...words]).positionals).toEqual(args);
  });

  test.each([
    [["w", "cargo", "--enter"]],
    [["w", "cargo", "test", "--lines", "3"]],
    [["w", "ls", "--lines"]],
    [["w", "ls", "--server", "main@build"]],
    [["w", "ls", "--server", "main", "x"]],
  ])("%j: one that may be the program's is left to it", (args) => {
    expect(parseCommand("tmuxwire", withServer, args).positionals).toEqual(args);
  });
});
