import { describe, expect, test } from "vitest";
import { loadProfile } from "../../../../daemon/readiness/profile.ts";
import { programName } from "../../../../daemon/readiness/profiles.ts";
import { isKeyName } from "../../../../daemon/panes/input/keys.ts";
import claude from "../../../../adapters/agents/claude/profile.json" with { type: "json" };
import { profileNamed, PROFILES } from "../../../support/agents/agentCatalogue.ts";

describe("profiles", () => {
  test("all are there, and every key they press is one of tmux's", () => {
    expect(PROFILES.all.map(({ name }) => name)).toEqual(
      "claude codex copilot gemini opencode pi qwen shell generic".split(" "),
    );
    for (const { keys } of PROFILES.all)
      for (const key of [...keys.clear, ...keys.interrupt]) expect(isKeyName(key)).toBe(true);
  });

  test("an unknown one is refused with the names there are", () => {
    expect(() => profileNamed("vim")).toThrow(/no profile "vim"; use claude, codex/);
  });

  test.each([
    [{ ...claude, name: "Bad Name" }, "name"],
    [{ ...claude, kind: "robot" }, "kind"],
    [{ ...claude, titles: [{ pattern: "(", state: "idle" }] }, "titles.0.pattern: not a regular expression"],
    [{ ...claude, titles: [{ pattern: "x", state: "dead" }] }, "titles.0.state"],
    [{ ...claude, submit: { ...claude.submit, gapMs: -1 } }, "submit.gapMs"],
    [{ ...claude, extra: true }, "extra"],
    [undefined, "the profile must be a JSON object"],
  ])("a wrong one says where: %#", (source, message) => {
    expect(() => loadProfile(source)).toThrow(message);
  });
});

describe("which profile fits", () => {
  test.each([
    ["claude", "", "claude"],
    ["/usr/local/bin/codex", "", "codex"],
    ["-zsh", "✳ Claude left this title behind", "shell"],
    ["bash", "", "shell"],
    ["node", "✳ project", "claude"],
    ["node", "◇  Ready (project)", "gemini"],
    ["node", "[ ! ] Action Required | project", "codex"],
    ["node", "π - project", "pi"],
    ["bun", "OpenCode", "opencode"],
    ["node", "vm", "generic"],
    ["vim", "✳ not ours", "generic"],
    ["python3.11", "", "generic"],
    ["", "", "generic"],
  ])("%s titled %j is %s", (command, title, name) => {
    expect(PROFILES.guess({ command, title }).name).toBe(name);
  });

  test("a program under its interpreter's name is known by what only it draws", () => {
    const rows = ["▐▛███▜▌   Claude Code v2.1.197", ""];
    expect(PROFILES.guess({ command: "node", title: "vm", rows }).name).toBe("claude");
    expect(PROFILES.guess({ command: "less", title: "vm", rows }).name).toBe("generic");
    expect(PROFILES.guess({ command: "bash", title: "vm", rows }).name).toBe("shell");
  });

  test.each([
    [
      "sh",
      "",
      [
        ["sh", "sh"],
        ["claude", "claude"],
      ],
      "claude",
    ],
    [
      "sh",
      "",
      [
        ["sh", "sh"],
        ["node", "node", "gemini"],
      ],
      "gemini",
    ],
    ["node", "", [["node", "node", "cli.js", "@google/gemini-cli"]], "gemini"],
    [
      "claude",
      "",
      [
        ["claude", "claude"],
        ["codex", "codex"],
      ],
      "claude",
    ],
    [
      "sh",
      "π - project",
      [
        ["sh", "sh"],
        ["node", "node", "cli.js"],
      ],
      "pi",
    ],
    ["zsh", "✳ left behind", [["zsh", "zsh"]], "shell"],
    ["zsh", "✳ left behind", [], "shell"],
    ["tmux: client", "◇  Ready (project)", [["tmux: client", "tmux"]], "gemini"],
    ["ssh", "host", [["ssh", "ssh"]], "generic"],
  ] as const)("%s titled %j with %j is %s", (command, title, processes, name) => {
    expect(PROFILES.guess({ command, title, processes }).name).toBe(name);
  });

  test("where the system tells of no process, a shell's title counts when the screen bears it out", () => {
    const traits = { command: "sh", title: "✳ project" };
    expect(PROFILES.guess({ ...traits, isShown: ({ name }) => name === "claude" }).name).toBe("claude");
    expect(PROFILES.guess({ ...traits, isShown: () => false }).name).toBe("shell");
  });

  test.each([
    ["-bash", "bash"],
    ["/opt/x/node", "node"],
    ["python3.11", "python"],
    ["node-20", "node"],
    ["ksh93", "ksh"],
    ["7z", "7z"],
  ])("%s is called %s", (command, name) => {
    expect(programName(command)).toBe(name);
  });
});
