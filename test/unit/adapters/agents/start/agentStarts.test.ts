/** With which arguments an agent is started again in its own conversation. */
import { expect, test } from "vitest";
import { argsToResume } from "../../../../../adapters/agents/start/agentStarts.ts";
import { AGENTS } from "../../../../support/agents/agentCatalogue.ts";

test.each([
  ["claude", "claude", "--model opus --continue", "--model opus"],
  ["claude", "/opt/bin/claude", "-c --add-dir /srv --resume 5f0c -- fix it", "--add-dir /srv"],
  ["claude", "claude", "--session-id=5f0c --permission-mode plan", "--permission-mode plan"],
  ["codex", "codex", "-c model=o4 resume 5f0c --search", "-c model=o4 --search"],
  ["codex", "codex", "resume --last fix", ""],
  ["gemini", "gemini", "--resume latest --yolo", "--yolo"],
  ["gemini", "gemini", "--yolo -i fix", "--yolo"],
  ["opencode", "opencode", "-s ses_1 --fork -m a/b --prompt=fix", "-m a/b"],
  ["pi", "pi", "--session-dir /srv --session old.jsonl", "--session-dir /srv"],
  ["qwen", "qwen", "--continue", ""],
  // What the words mean to another program is not known.
  ["claude", "sh", "-c claude", "-c claude"],
])(
  "%s, started as %s %s, goes on with the arguments that choose no conversation and give no prompt",
  (name, program, given, left) => {
    const kind = AGENTS.find((agent) => agent.name === name)!;
    const launch = { program, args: given.split(" "), environment: {}, cwd: "/srv", startedBy: "api" };
    expect(argsToResume(kind, launch).join(" ")).toBe(left);
  },
);

test("every agent that can be started with a conversation's id has the arguments that choose one", () => {
  const resumable = AGENTS.filter(({ resume }) => resume !== undefined);
  expect(resumable.filter(({ resume, once }) => !once.includes(resume![0]!))).toEqual([]);
});
