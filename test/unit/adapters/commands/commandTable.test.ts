import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../../adapters/commands/commandTable.ts";
import { COMMAND_GROUPS, HELP_TOPICS } from "../../../../adapters/commands/helpTopics.ts";
import { findCommand, parseCommand } from "../../../../adapters/cli/parseCommand.ts";
import { LAYOUT_OPERATION_NAMES } from "../../../../protocol/api/operationRoutes.ts";

/** The words of an example's command line: quotes joined, everything from a pipe, a redirection or a substitution dropped. */
function wordsOf(line: string): string[] {
  const inner = /\$\(([^)]*)\)/.exec(line)?.[1] ?? line;
  const command = inner.split(/ [|<>] /, 1)[0] ?? "";
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

test("help lists every command once, and says nothing of others", () => {
  const shown = COMMANDS.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name);
  expect(COMMAND_GROUPS.flatMap(({ names }) => names).toSorted()).toEqual(shown.toSorted());
  // A topic's name would hide a command.
  expect(HELP_TOPICS.filter(({ name }) => shown.includes(name))).toEqual([]);
});

describe("the command table", () => {
  test("has a command for each operation, and the others", () => {
    expect(COMMANDS.map(({ name }) => name)).toEqual([
      ..."serve addin enable disable attach servers sessions windows panes ls show new send capture snapshot".split(
        " ",
      ),
      ..."wait run submit choose interrupt clear resize kill start-recording recordings stop-recording".split(" "),
      ..."delete-recording".split(" "),
      ...LAYOUT_OPERATION_NAMES,
      ..."agents agent rename-agent start resume worktrees remove-worktree tell messages agent-messages cancel".split(
        " ",
      ),
      ..."agent-wait answer agent-interrupt end timeline hosts notify follow rec play events mcp logs restart".split(
        " ",
      ),
      ..."config doctor trust service hooks profiles profile skill completions names host-info version".split(" "),
    ]);
  });

  test.each(COMMANDS.map((command) => [command.name, command] as const))("%s is described whole", (name, command) => {
    expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    const texts = [command.summary, ...[...command.options, ...command.positionals].map((spec) => spec.description)];
    for (const text of texts) {
      expect(text).toMatch(/^[^A-Z].*[^.]$/);
      expect(text).not.toMatch(/[\n\t]/);
    }
    expect(command.examples.length).toBeGreaterThan(0);
  });

  test.each(COMMANDS.map((command) => [command.name, command] as const))("%s has no option twice", (_name, command) => {
    const names = command.options.map((option) => option.name);
    const letters = command.options.flatMap((option) => option.short ?? []);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(letters).size).toBe(letters.length);
    expect(names).not.toContain("help");
    expect(letters).not.toContain("h");
  });

  test.each(COMMANDS.map((command) => [command.name, command] as const))(
    "%s takes many values, and optional ones, last only",
    (_name, command) => {
      const { positionals } = command;
      expect(positionals.slice(0, -1).filter((spec) => spec.many === true)).toEqual([]);
      const firstOptional = positionals.findIndex((spec) => spec.optional === true);
      if (firstOptional !== -1)
        expect(positionals.slice(firstOptional).every((spec) => spec.optional === true)).toBe(true);
    },
  );

  const examples = COMMANDS.flatMap((command) => command.examples.map(({ line }) => [line] as const));
  test.each(examples)("its example parses: %s", (line) => {
    const words = wordsOf(line);
    const at = words.indexOf("tmuxwire");
    const [name = "", ...rest] = words.slice(at + 1);
    expect(() =>
      parseCommand("tmuxwire", findCommand({ name: "tmuxwire", commands: COMMANDS }, name), rest),
    ).not.toThrow();
  });

  test("no option could carry a secret: a command line is everybody's to read", () => {
    const names = COMMANDS.flatMap((command) => command.options.map((option) => option.name));
    expect(names.filter((name) => /token|secret|password|key$/.test(name) && name !== "key")).toEqual(
      names.filter((name) => name === "token-file"),
    );
  });
});
